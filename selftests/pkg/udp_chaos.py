#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A bad network between UDP clients and a server: datagrams are lost, come twice,
late and out of order, changed, or again much later.

Usage: udp_chaos.py PORT SERVER-PORT     both on 127.0.0.1; until it is killed
"""
import heapq
import random
import select
import socket
import sys
import time

LOSS, TWICE, LATE, AGAIN, CHANGED = 0.2, 0.2, 0.3, 0.2, 0.1
LATE_S = 0.3
KEPT = 200


class Chaos:
    """Datagrams that wait, and all that there were."""

    def __init__(self, port, server_port):
        self.random = random.Random(6)
        self.outside = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.outside.bind(('127.0.0.1', port))
        self.server = ('127.0.0.1', server_port)
        self.clients = {}
        self.waiting = []
        self.history = []
        self.count = 0

    def inside(self, client):
        """The socket by which the server knows this client."""
        if client not in self.clients:
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sock.bind(('127.0.0.1', 0))
            self.clients[client] = sock
        return self.clients[client]

    def later(self, way, data):
        """Send it after a while, which is 0 for most."""
        late = self.random.uniform(0, LATE_S) if self.random.random() < LATE else 0
        self.count += 1
        heapq.heappush(self.waiting, (time.monotonic() + late, self.count, way, data))

    def changed(self, data):
        """Some byte of it is another one."""
        at = self.random.randrange(len(data))
        return data[:at] + bytes([data[at] ^ self.random.randrange(1, 256)]) + data[at + 1:]

    def take(self, way, data):
        """What the network does with a datagram."""
        self.history = (self.history + [(way, data)])[-KEPT:]
        if self.random.random() >= LOSS:
            self.later(way, data)
        if self.random.random() < TWICE:
            self.later(way, data)
        if self.random.random() < CHANGED:
            self.later(way, self.changed(data))
        if self.random.random() < AGAIN:
            self.later(*self.random.choice(self.history))

    def send_due(self):
        """What has waited; returns how long the next one still has to."""
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            _, _, (sock, to), data = heapq.heappop(self.waiting)
            sock.sendto(data, to)
        return max(self.waiting[0][0] - time.monotonic(), 0) if self.waiting else None

    def run(self):
        """Until the process is killed."""
        while True:
            insides = {sock: client for client, sock in self.clients.items()}
            ready, _, _ = select.select([self.outside, *insides], [], [], self.send_due())
            for sock in ready:
                data, source = sock.recvfrom(2000)
                if sock is self.outside:
                    self.take((self.inside(source), self.server), data)
                else:
                    self.take((self.outside, insides[sock]), data)


Chaos(int(sys.argv[1]), int(sys.argv[2])).run()
