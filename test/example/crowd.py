#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: crowd.py URL COUNT

Opens more connections than the service has descriptors for, and sees that it says so over one that it
has accepted, that it accepts again when they are gone, and that it says that, too. Waits for states.
"""

import http.client
import socket
import sys
import time
import urllib.parse


def health(connection):
    connection.request("GET", "/health")
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def main():
    address = urllib.parse.urlparse(sys.argv[1])
    here = (address.hostname, address.port)
    known = http.client.HTTPConnection(*here)
    while health(known) != (200, "healthy\n"):
        time.sleep(0.05)
    crowd = [socket.create_connection(here) for _ in range(int(sys.argv[2]))]
    while True:
        status, text = health(known)
        if status == 503 and "accepting: " in text:
            break
        time.sleep(0.05)
    for connection in crowd:
        connection.close()
    while health(known) != (200, "healthy\n"):
        time.sleep(0.05)
    if health(http.client.HTTPConnection(*here))[0] != 200:
        sys.exit("a new connection is not served")


main()
