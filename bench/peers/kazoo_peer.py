#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kazoo's recipes as they are meant to be used, for corozk-bench: see README.md in this folder.

usage: kazoo_peer.py REQUESTS HOSTS SESSION_TIMEOUT_MS
"""
import gc
import itertools
import json
import os
import queue
import sys
import threading
import time

import kazoo
from kazoo.client import KazooClient

now = time.perf_counter_ns  # the clock of all programs on this machine

REQUESTS = None
OUTPUT = threading.Lock()
FAILED = threading.Event()


def say(**values):
    """A line for the other side."""
    text = json.dumps(values)
    with OUTPUT:
        print(text, flush=True)


def fail(problem):
    """Says once what went wrong; the other side then ends this process."""
    if not FAILED.is_set():
        FAILED.set()
        say(event='failure', what='%s: %s' % (type(problem).__name__, problem))


def expect(word):
    line = REQUESTS.readline().rstrip('\n')
    if line != word:
        raise IOError("'%s' was due, not '%s'" % (word, line))


def memory():
    """Resident memory after a collection."""
    gc.collect()
    with open('/proc/self/status') as status:
        for line in status:
            if line.startswith('VmRSS:'):
                return int(line.split()[1]) * 1024
    return 0


def phase(name):
    """What comes now is measured."""
    say(event='phase', name=name, memory_bytes=memory())
    expect('go')


def measured(name, operations, began, ended=None, **more):
    seconds = ((ended or now()) - began) / 1e9
    say(event='measured', name=name, operations=operations, seconds=seconds, **more)


def start(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


class Sessions:
    """Some sessions, closed at the end."""

    def __init__(self, count):
        self.all = [KazooClient(hosts=HOSTS, timeout=TIMEOUT / 1000) for _ in range(count)]

    def __enter__(self):
        for client in self.all:
            client.add_listener(self.on_state)
            client.start(timeout=30)
        return self

    def __exit__(self, *_):
        for client in self.all:
            client.remove_listener(self.on_state)
            client.stop()
            client.close()

    @staticmethod
    def on_state(state):
        if state != 'CONNECTED':
            say(event='note', what='connection ' + state)

    def of(self, who):
        return self.all[who % len(self.all)]


def contender(request, client, who):
    """What is acquired and released, and whether others may have it, too."""
    path, kind = request['path'], request['kind']
    if kind == 'lock':
        return client.Lock(path, 'contender-%d' % who), False
    if kind == 'shared_lock':
        reads = who % (int(request['readers']) + 1) != 0
        return (client.ReadLock if reads else client.WriteLock)(path), reads
    if kind == 'semaphore':
        return client.Semaphore(path, max_leases=int(request['limit'])), True
    raise ValueError('no such kind: ' + kind)


def handover(request):
    """A thread for each: all queue while it is held, then it is passed on."""
    waiters, path, kind = int(request['waiters']), request['path'], request['kind']
    before = int(request.get('before', 0))
    hold = int(request.get('hold', 0)) / 1000
    holders = 0 if before else int(request['limit']) if kind == 'semaphore' else 1
    grants = []
    ended = threading.Semaphore(0)
    over = threading.Event()  # what happens from then on does not matter

    def take_a_turn(client, who):
        try:
            if kind == 'election':
                client.Election(path, 'candidate-%d' % who).run(lead)
            else:
                mine, shared = contender(request, client, who)
                mine.acquire()
                granted = now()
                if hold:
                    time.sleep(hold)
                grants.append((granted, now(), int(shared)))
                mine.release()
            ended.release()
        except Exception as problem:  # pylint: disable=broad-except
            if not over.is_set():
                fail(problem)

    def lead():
        granted = now()
        grants.append((granted, now(), 0))

    with Sessions(int(request.get('sessions', 1))) as sessions:
        # An election is a lock that Kazoo's Election holds for the leader.
        first = [contender(dict(request, kind='lock') if kind == 'election' else request,
                           sessions.of(0), 0) for _ in range(holders)]
        held = []
        for mine, _ in first:
            mine.acquire()
            held.append(now())
        phase('queue')
        began = now()
        for i in range(1, waiters + 1):
            start(lambda client=sessions.of(i), who=i: take_a_turn(client, who))
        folder = path + '-__lock__' if kind == 'semaphore' else path
        nodes = waiters + (0 if kind == 'semaphore' else max(before, holders))
        say(event='started', folders=[folder], nodes=nodes,
            watches=waiters if kind in ('lock', 'election') else 0)
        expect('settled')
        queued = now()  # looking at the memory takes long
        measured('queue', waiters, began, queued, memory_bytes=memory())
        if not holders:
            over.set()
            return
        phase('drain')
        began = now()
        for (mine, shared), granted in zip(first, held):
            grants.append((granted, now(), int(shared)))
            mine.release()
        for _ in range(waiters):
            ended.acquire()
        measured('drain', waiters, began, grants_ns=[t for turn in grants for t in turn])


def turns(request):
    """Each in a session of its own, again and again."""
    clients, path = int(request['clients']), request['path']
    each = max(int(request['turns']) // clients, 1)
    grants, waits = [], []
    ended, go = threading.Semaphore(0), threading.Event()

    with Sessions(clients) as sessions:
        sessions.of(0).ensure_path(path)

        def take_turns(client, who):
            asked = 0

            def have_it():
                granted = now()
                waits.append(granted - asked)
                grants.append((granted, now(), 0))

            try:
                if request['kind'] == 'election':
                    election = client.Election(path, 'candidate-%d' % who)
                else:
                    lock, _ = contender(request, client, who)
                go.wait()
                for _ in range(each):
                    asked = now()
                    if request['kind'] == 'election':
                        election.run(have_it)
                    else:
                        lock.acquire()
                        have_it()
                        lock.release()
                ended.release()
            except Exception as problem:  # pylint: disable=broad-except
                fail(problem)

        for i in range(clients):
            start(lambda client=sessions.of(i), who=i: take_turns(client, who))
        phase('turns')
        began = now()
        go.set()
        for _ in range(clients):
            ended.acquire()
        measured('turns', each * clients, began, latencies_ns=waits,
                 grants_ns=[t for turn in grants for t in turn])


def work(operations, objects, one):
    """So many operations by as many threads as there are objects."""
    started = itertools.count()
    ended = threading.Semaphore(0)

    def loop(mine):
        try:
            while next(started) < operations:
                one(mine)
            ended.release()
        except Exception as problem:  # pylint: disable=broad-except
            fail(problem)

    for mine in objects:
        start(lambda mine=mine: loop(mine))
    for _ in objects:
        ended.acquire()


def uncontended(request):
    count = int(request['operations'])
    with Sessions(1) as sessions:
        lock = sessions.of(0).Lock(request['path'])
        cycles = []
        phase('cycles')
        began = now()
        for _ in range(count):
            start_of_it = now()
            lock.acquire()
            lock.release()
            cycles.append(now() - start_of_it)
        measured('cycles', count, began, latencies_ns=cycles)


def queued(request, locking):
    count, workers = int(request['items']), int(request.get('workers', 1))
    with Sessions(1) as sessions:
        client = sessions.of(0)
        kind = client.LockingQueue if locking else client.Queue
        # A queue of Kazoo's is one thread's: it remembers what it has listed.
        queues = [kind(request['path']) for _ in range(workers)]

        def put(items):
            items.put(b'0123456789abcdef')

        def take(items):
            # Who was too slow for the items that it has listed is told that there are none.
            while items.get() is None:
                pass
            if locking and not items.consume():
                raise RuntimeError('an item was not ours to consume')

        for name, one in (('put', put), ('take', take)):
            phase(name)
            began = now()
            work(count, queues, one)
            measured(name, count, began)


def queue_passes(request):
    """Each puts an item and takes one, again and again, in a session of its own."""
    with Sessions(int(request['clients'])) as sessions:
        queues = [client.Queue(request['path']) for client in sessions.all]

        def one(items):
            items.put(b'0123456789abcdef')
            # Who was too slow for the items that it has listed is told that there are none.
            while items.get() is None:
                pass

        phase('pass')
        began = now()
        work(int(request['items']), queues, one)
        measured('pass', int(request['items']), began)


def counter(request):
    clients = int(request['clients'])
    each = max(int(request['operations']) // clients, 1)
    with Sessions(clients) as sessions:
        go = threading.Event()
        values = [client.Counter(request['path']) for client in sessions.all]
        for value in values:
            value += 0

        def add(value):
            try:
                go.wait()
                for _ in range(each):
                    value += 1
            except Exception as problem:  # pylint: disable=broad-except
                fail(problem)
                raise

        threads = [start(lambda value=value: add(value)) for value in values]
        phase('count')
        began = now()
        go.set()
        for thread in threads:
            thread.join()
        measured('count', each * clients, began)


def barrier(request):
    members, path = int(request['members']), request['path']
    with Sessions(int(request.get('sessions', 1))) as sessions:
        enter, leave = threading.Event(), threading.Event()
        inside, outside = threading.Semaphore(0), threading.Semaphore(0)
        sessions.of(0).ensure_path(path)

        def take_part(client, who):
            try:
                mine = client.DoubleBarrier(path, members, 'member-%d' % who)
                enter.wait()
                mine.enter()
                if not mine.participating:
                    raise RuntimeError('member %d could not enter' % who)
                inside.release()
                leave.wait()
                mine.leave()
                outside.release()
            except Exception as problem:  # pylint: disable=broad-except
                fail(problem)

        for i in range(members):
            start(lambda client=sessions.of(i), who=i: take_part(client, who))
        for name, event, done in (('enter', enter, inside), ('leave', leave, outside)):
            phase(name)
            began = now()
            event.set()
            for _ in range(members):
                done.acquire()
            measured(name, members, began)


def cache(request):
    """From one session's write to the other one's watcher."""
    count, path = int(request['operations']), request['path']
    with Sessions(2) as sessions:
        sessions.of(0).create(path, b'')
        seen = queue.Queue()
        sessions.of(1).DataWatch(path, lambda data, stat: seen.put(data))
        seen.get()
        times = []
        phase('changes')
        began = now()
        for i in range(count):
            data = b'%d' % i
            start_of_it = now()
            sessions.of(0).set_async(path, data)
            while seen.get() != data:
                pass
            times.append(now() - start_of_it)
        measured('changes', count, began, latencies_ns=times)


WORKLOADS = {
    'handover': handover,
    'uncontended': uncontended,
    'queue': lambda request: queued(request, False),
    'locking_queue': lambda request: queued(request, True),
    'queue_passes': queue_passes,
    'turns': turns,
    'counter': counter,
    'barrier': barrier,
    'cache': cache,
}


def main():
    say(event='ready', version=kazoo.__version__)
    while True:
        words = REQUESTS.readline().split()
        if not words or words[0] == 'quit':
            break
        try:
            WORKLOADS[words[0]](dict(word.split('=', 1) for word in words[1:]))
            say(event='done')
        except Exception as problem:  # pylint: disable=broad-except
            fail(problem)
    # Sessions and threads may be in any state: they go with the process.
    os._exit(0)


if __name__ == '__main__':
    REQUESTS = open(sys.argv[1], encoding='utf-8')
    HOSTS, TIMEOUT = sys.argv[2], int(sys.argv[3])
    main()
