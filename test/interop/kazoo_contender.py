#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kazoo's recipes, as the other party of the tests in this folder.

usage: kazoo_contender.py task=TASK hosts=HOSTS path=PATH record=PATH [NAME=VALUE]...

  task=contend     take turns at PATH until both parties have had their share
  task=hold        get in once, and stay until RECORD/leave is there
  task=read_in_turn  read `count` times, each time until a writer has queued
  task=contenders  print one line for each contender's identity
  task=put         put `count` items named after us into the queue at PATH
  task=take        take items until one is "stop"; print them
  task=add         add 1 to the counter at PATH, `count` times
  task=set         set the barrier at PATH
  task=remove      remove it
  task=wait        print "through" once there is none
  task=rounds      enter and leave the double barrier at PATH `count` times; print "inside" and
                   "outside". Stay inside until RECORD/leave is there, and begin each round but
                   the first when RECORD/round-N is there
  task=member      be a member of the party at PATH with the name `identity` until RECORD/leave is
                   there; print the members at every change
  task=server_set  be a member of the ServerSet at PATH, numbered by the server, with the shard `shard`,
                   until RECORD/leave is there; print the members that are alive at every change, as
                   Finagle reads them

The names and values: kind (mutex, shared, semaphore, election, queue, counter, curator_counter,
party, shallow_party), contenders, handovers, together, limit, count, identity, priorities, roles,
session (milliseconds), shard.

What happens inside is written down at RECORD through a session of its own, see record.hpp.
"""
import json
import re
import sys
import threading
import traceback

from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError, NodeExistsError, NoNodeError

OURS = 'kazoo'


def say(line):
    """A line for the test, among what is logged."""
    print('= ' + line, flush=True)


def connect(hosts, session=30):
    # A conflict is tried again for as long as it takes.
    forever = dict(max_tries=-1, delay=0.001, backoff=1, max_delay=0.005)
    client = KazooClient(hosts=hosts, timeout=session, command_retry=forever)
    client.start(timeout=30)
    return client


class Record:
    """Who is inside, written down by everybody who gets in."""

    def __init__(self, client, root, limit, handovers, together):
        self.client = client
        self.root = root
        self.limit = limit
        self.handovers = handovers
        self.together = together

    def violation(self, text):
        self.client.create(self.root + '/violations/v-', text.encode(), sequence=True)

    def enter(self, role):
        """Returns our marker, and whether both parties have had their share."""
        marker = self.client.create('%s/inside/%s-%s-' % (self.root, OURS, role),
                                    ephemeral=True, sequence=True)
        inside = self.client.get_children(self.root + '/inside')
        writers = [name for name in inside if '-write-' in name]
        if len(inside) > self.limit or (writers and len(inside) > 1):
            self.violation('%s found %s' % (marker, sorted(inside)))
        others = any(not name.startswith(OURS + '-') for name in inside)
        while True:
            data, stat = self.client.get(self.root + '/turns')
            last, *numbers = data.decode().split()
            to_ours, to_theirs, ours, theirs, together = map(int, numbers)
            # Here "ours" is the library under test, and "theirs" is us.
            if last != OURS:
                to_theirs += 1
            theirs += 1
            together += others
            text = '%s %d %d %d %d %d' % (OURS, to_ours, to_theirs, ours, theirs, together)
            try:
                self.client.set(self.root + '/turns', text.encode(), version=stat.version)
            except BadVersionError:
                if role == 'write':
                    self.violation('somebody wrote while %s was inside' % marker)
                continue
            done = (to_ours >= self.handovers and to_theirs >= self.handovers
                    and together >= self.together)
            return marker, done

    def leave(self, marker):
        self.client.delete(marker)

    def wait_for_leave(self):
        wait_for_leave(self.client, self.root)


def wait_for_leave(client, root):
    wait_for(client, root + '/leave')


def wait_for(client, path):
    gone = threading.Event()
    if not client.exists(path, watch=lambda event: gone.set()):
        gone.wait()


def make_place(client, options):
    """A function of a role ('read' or 'write') and of what to do inside."""
    kind, path = options['kind'], options['path']
    identity = options.get('identity', 'kazoo')

    def locked(lock):
        def visit(inside):
            with lock:
                inside()
        return visit

    if kind == 'mutex':
        visit = locked(client.Lock(path, identity))
        return lambda role, inside: visit(inside)
    if kind == 'shared':
        visits = {'read': locked(client.ReadLock(path, identity)),
                  'write': locked(client.WriteLock(path, identity))}
        return lambda role, inside: visits[role](inside)
    if kind == 'semaphore':
        visit = locked(client.Semaphore(path, identity, int(options['limit'])))
        return lambda role, inside: visit(inside)
    if kind == 'election':
        election = client.Election(path, identity)
        return lambda role, inside: election.run(inside)
    raise ValueError('no place of kind ' + kind)


def roles_of(options):
    if 'roles' in options:
        return options['roles'].split(',')
    return {'shared': ['read', 'read', 'write'],
            'semaphore': ['read']}.get(options['kind'], ['write'])


def make_record(options):
    limit = int(options.get('limit', '1000'))
    return Record(connect_with(options), options['record'], limit,
                  int(options.get('handovers', '0')), int(options.get('together', '0')))


def contend(options):
    record = make_record(options)
    failures = []

    def take_turns():
        try:
            client = connect(options['hosts'])
            place = make_place(client, options)
            roles = roles_of(options)
            state = {'done': False}
            turn = 0
            while not state['done']:
                role = roles[turn % len(roles)]
                turn += 1

                def inside():
                    marker, state['done'] = record.enter(role)
                    record.leave(marker)

                place(role, inside)
            client.stop()
            client.close()
        except BaseException:
            failures.append(traceback.format_exc())

    threads = [threading.Thread(target=take_turns, daemon=True)
               for _ in range(int(options.get('contenders', '2')))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    record.client.stop()
    if failures:
        sys.exit('\n'.join(failures))


def hold(options):
    record = make_record(options)
    client = connect_with(options)
    role = options.get('role', roles_of(options)[0])

    def inside():
        marker, _ = record.enter(role)
        record.wait_for_leave()
        record.leave(marker)

    make_place(client, options)(role, inside)
    client.stop()
    record.client.stop()


def read_in_turn(options):
    """Reads `count` times, and leaves when a writer has queued behind us."""
    record = make_record(options)
    client = connect(options['hosts'])
    place = make_place(client, options)

    def inside():
        marker, _ = record.enter('read')
        while True:
            changed = threading.Event()
            names = client.get_children(options['path'], watch=lambda event: changed.set())
            if any('__lock__' in name for name in names):
                break
            changed.wait()
        record.leave(marker)

    for _ in range(int(options['count'])):
        place('read', inside)
    client.stop()
    record.client.stop()


def contenders(options):
    client = connect(options['hosts'])
    kind, path = options['kind'], options['path']
    if kind == 'semaphore':
        names = client.Semaphore(path, None, int(options['limit'])).lease_holders()
    elif kind == 'election':
        names = client.Election(path).contenders()
    elif kind == 'shared':
        names = client.WriteLock(path).contenders()
    else:
        names = client.Lock(path).contenders()
    for name in names:
        say(name)
    client.stop()


def put(options):
    client = connect(options['hosts'])
    queue = client.Queue(options['path'])
    priorities = [int(p) for p in options.get('priorities', '100').split(',')]
    for i in range(int(options['count'])):
        queue.put(b'%s-%d' % (OURS.encode(), i), priorities[i % len(priorities)])
    client.stop()


def take(options):
    client = connect(options['hosts'])
    queue = client.Queue(options['path'])
    while True:
        item = queue.get()
        if item is None:
            some = threading.Event()
            if not client.get_children(options['path'], watch=lambda event: some.set()):
                some.wait()
            continue
        if item == b'stop':
            break
        say(item.decode())
    client.stop()


def add(options):
    client = connect(options['hosts'])
    counter = client.Counter(options['path'], support_curator=options['kind'] == 'curator_counter')
    for _ in range(int(options['count'])):
        counter += 1
    client.stop()


def connect_with(options):
    return connect(options['hosts'], int(options.get('session', '30000')) / 1000)


def barrier(options):
    client = connect_with(options)
    it = client.Barrier(options['path'])
    if options['task'] == 'set':
        it.create()
    elif options['task'] == 'remove':
        it.remove()
    else:
        it.wait()
        say('through')
    client.stop()


def rounds(options):
    client = connect_with(options)
    for number in range(1, int(options.get('count', '1')) + 1):
        if number > 1:
            wait_for(client, options['record'] + '/round-' + str(number))
        it = client.DoubleBarrier(options['path'], int(options.get('limit', '2')))
        it.enter()
        if not it.participating:
            sys.exit('did not enter')
        say('inside')
        wait_for_leave(client, options['record'])
        it.leave()
        say('outside')
    client.stop()


def follow_until_leave(client, record, members):
    """Says who the members are, each time that they have changed; there are no listeners."""
    leave = threading.Event()

    def follow():
        last = None
        while not leave.wait(0.01):
            try:
                now = ' '.join(['members'] + sorted(members()))
            except NoNodeError:
                continue
            if now != last:
                say(now)
            last = now

    follower = threading.Thread(target=follow)
    follower.start()
    wait_for_leave(client, record)
    leave.set()
    follower.join()


def member(options):
    client = connect_with(options)
    make = client.ShallowParty if options['kind'] == 'shallow_party' else client.Party
    it = make(options['path'], options['identity'])
    it.join()
    follow_until_leave(client, options['record'], lambda: list(it))
    it.leave()
    client.stop()


def server_set(options):
    client = connect_with(options)
    path = options['path']
    member = {'serviceEndpoint': {'host': '127.0.0.1', 'port': 8080},
              'additionalEndpoints': {'http-admin': {'host': '127.0.0.1', 'port': 9990}},
              'status': 'ALIVE', 'shard': int(options['shard'])}
    ours = client.create(path + '/member_', json.dumps(member).encode(), ephemeral=True,
                         sequence=True, makepath=True)

    def printed(name):
        found = json.loads(client.get(path + '/' + name)[0])
        if found['status'] != 'ALIVE':
            return None
        main = found['serviceEndpoint']
        words = ['%s:%d' % (main['host'], main['port'])]
        if 'shard' in found:
            words.append('shard=%d' % found['shard'])
        for key, one in sorted(found['additionalEndpoints'].items()):
            words.append('%s=%s:%d' % (key, one['host'], one['port']))
        return ','.join(words)

    def members():
        names = [name for name in client.get_children(path)
                 if re.match('^member_-?[0-9]+$', name)]
        return filter(None, map(printed, names))

    follow_until_leave(client, options['record'], members)
    client.delete(ours)
    client.stop()


def main():
    options = dict(argument.split('=', 1) for argument in sys.argv[1:])
    tasks = dict(contend=contend, hold=hold, read_in_turn=read_in_turn, contenders=contenders,
                 put=put, take=take, add=add, set=barrier, remove=barrier, wait=barrier,
                 rounds=rounds, member=member, server_set=server_set)
    tasks[options['task']](options)


main()
