#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Simulates a bad network between UDP clients and a server: it loses, duplicates, delays, reorders and changes
datagrams, and repeats old ones.

Usage: udp_chaos.py PORT SERVER-PORT     both on 127.0.0.1; runs until it is killed
"""
import heapq
import random
import select
import socket
import sys
import time

LOSS, DUPLICATE, LATE, REPLAY, CHANGED = 0.2, 0.2, 0.3, 0.2, 0.1
LATE_S = 0.3
KEPT = 200


class Chaos:
    """State of the network: delayed datagrams, and a history for replays."""

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
        """Return: the socket that represents this client to the server."""
        if client not in self.clients:
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sock.bind(('127.0.0.1', 0))
            self.clients[client] = sock
        return self.clients[client]

    def later(self, way, data):
        """Queue a datagram with a random delay, which is 0 for most datagrams."""
        late = self.random.uniform(0, LATE_S) if self.random.random() < LATE else 0
        self.count += 1
        heapq.heappush(self.waiting, (time.monotonic() + late, self.count, way, data))

    def changed(self, data):
        """Return: the datagram with one byte changed."""
        at = self.random.randrange(len(data))
        return data[:at] + bytes([data[at] ^ self.random.randrange(1, 256)]) + data[at + 1:]

    def take(self, way, data):
        """Lose, duplicate, delay, change a datagram, or replay an old one, at random."""
        self.history = (self.history + [(way, data)])[-KEPT:]
        if self.random.random() >= LOSS:
            self.later(way, data)
        if self.random.random() < DUPLICATE:
            self.later(way, data)
        if self.random.random() < CHANGED:
            self.later(way, self.changed(data))
        if self.random.random() < REPLAY:
            self.later(*self.random.choice(self.history))

    def send_due(self):
        """Send the datagrams that are due. Return: seconds until the next one, or None"""
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            _, _, (sock, to), data = heapq.heappop(self.waiting)
            sock.sendto(data, to)
        return max(self.waiting[0][0] - time.monotonic(), 0) if self.waiting else None

    def run(self):
        """Forward datagrams until the process is killed."""
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
