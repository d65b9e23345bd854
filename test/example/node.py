#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: node.py HOSTS set|create|erase|get|children PATH

What somebody else does to a node. The data comes from the standard input, byte by byte, or goes to the
standard output. create makes a persistent node.
"""

import socket
import struct
import sys

OPERATIONS = {"create": 1, "erase": 2, "get": 4, "set": 5, "children": 8}


def text(value):
    return struct.pack(">i", len(value)) + value


def frame(connection, request):
    connection.sendall(text(request))
    size = struct.unpack(">i", read(connection, 4))[0]
    return read(connection, size)


def read(connection, size):
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            sys.exit("the server has closed the connection")
        data += piece
    return data


def main():
    hosts, operation, path = sys.argv[1:4]
    host, port = hosts.split(",")[0].rsplit(":", 1)
    name = path.encode()
    body = text(name)
    if operation == "set":
        body += text(sys.stdin.buffer.read()) + struct.pack(">i", -1)
    elif operation == "create":
        anyone = struct.pack(">ii", 1, 31) + text(b"world") + text(b"anyone")
        body += text(sys.stdin.buffer.read()) + anyone + struct.pack(">i", 0)
    elif operation == "erase":
        body += struct.pack(">i", -1)
    else:
        body += b"\0"
    with socket.create_connection((host, int(port))) as connection:
        frame(connection, struct.pack(">iqiq", 0, 0, 10000, 0) + text(bytes(16)) + b"\0")
        header = struct.pack(">ii", 1, OPERATIONS[operation])
        answer = frame(connection, header + body)
        error = struct.unpack(">i", answer[12:16])[0]
        if error != 0:
            sys.exit(f"{operation} {path}: error {error}")
        answer = answer[16:]
        if operation == "get":
            size = struct.unpack(">i", answer[:4])[0]
            sys.stdout.buffer.write(answer[4 : 4 + max(size, 0)])
        if operation == "children":
            print(struct.unpack(">i", answer[:4])[0])
        frame(connection, struct.pack(">ii", 2, -11))


main()
