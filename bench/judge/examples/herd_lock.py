#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How not to do it: a lock that is one, and a herd. Everybody watches the one node:

corozk-bench judge --waiters 12 -- bench/judge/examples/herd_lock.py
"""
import os
import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError


def say(word):
    print(word, flush=True)


path = os.environ['COROZK_BENCH_PATH']
client = KazooClient(hosts=os.environ['COROZK_BENCH_HOSTS'])
client.start()

say('waiting')
while True:
    try:
        client.create(path, ephemeral=True)
        break
    except NodeExistsError:
        gone = threading.Event()
        if client.exists(path, watch=lambda event, gone=gone: gone.set()):
            gone.wait()
say('holding')
sys.stdin.readline()  # 'release'
client.delete(path)
say('released')

sys.stdin.readline()
client.stop()
