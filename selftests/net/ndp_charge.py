#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sends one-byte messages to many hosts that do not answer.

ndp_charge.py COUNT WINDOW
    Sends to COUNT hosts from 10.5.1.1 on, with NDP_INITIAL_WINDOW set to WINDOW. Prints the number of accepted
    messages, and keeps the socket open until it is killed.
"""
import signal
import socket
import struct
import sys

SOL_NDP = 400
NDP_INITIAL_WINDOW = 2


def main():
    """Command line"""
    count, window = (int(word) for word in sys.argv[1:])
    sent = 0
    with socket.socket(socket.AF_INET, socket.SOCK_RDM, 259) as sock:
        sock.setsockopt(SOL_NDP, NDP_INITIAL_WINDOW, struct.pack("I", window))
        for i in range(count):
            host = f"10.5.{1 + i // 250}.{1 + i % 250}"
            sent += sock.sendto(b"x", socket.MSG_DONTWAIT, (host, 7))
        print(sent, "messages", flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
