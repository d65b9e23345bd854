#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Kazoo's Lock (and Semaphore) as corozk-bench judges it:

corozk-bench judge --waiters 10 -- bench/judge/examples/kazoo_lock.py
"""
import os
import sys

from kazoo.client import KazooClient


def say(word):
    print(word, flush=True)


hosts = os.environ['COROZK_BENCH_HOSTS']
path = os.environ['COROZK_BENCH_PATH']
limit = int(os.environ['COROZK_BENCH_LIMIT'])
timeout = int(os.environ['COROZK_BENCH_SESSION_TIMEOUT_MS']) / 1000

client = KazooClient(hosts=hosts, timeout=timeout)
client.start()
lock = client.Lock(path) if limit == 1 else client.Semaphore(path, max_leases=limit)

say('waiting')
with lock:
    say('holding')
    sys.stdin.readline()  # 'release'
say('released')

sys.stdin.readline()  # to the end: closing the session would be counted with the hand-over
client.stop()
