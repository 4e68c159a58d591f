#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks NDP sockets that share a port (SO_REUSEPORT). Prints "ok NAME" or "not ok NAME" for each check.

ndp_reuse.py        in a namespace with a loopback device and a silent host 10.5.0.2 at d0, as root
"""
import ctypes
import errno
import os
import select
import socket
import struct
import sys
import time

PORT = 9
SENDERS = 64
NDP = 259
ADDRESSES = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
OTHER_UID = 1000
# that a user without privileges may bind
USER_PORT = 2000
DEVICE = b"d0"
SILENT = "10.5.0.2"


def check(name, right):
    """Print the result of a check"""
    print("ok" if right else "not ok", name, flush=True)


def sock_of(family, kind=socket.SOCK_RDM, share=True, cpu=None):
    """Return: a socket without a port"""
    sock = socket.socket(family, kind, NDP)
    if share:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if cpu is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_INCOMING_CPU, cpu)
    return sock


def member(family, address="", **options):
    """Return: a socket that shares the port"""
    sock = sock_of(family, **options)
    sock.bind((address, PORT))
    return sock


def refused(family, first, second, uid=0):
    """Return: the error of a second socket's bind(), or 0; first, second: do they share? uid: the second one's"""
    with sock_of(family, share=first) as holder:
        holder.bind(("", PORT))
        os.seteuid(uid)
        try:
            with sock_of(family, share=second) as sock:
                os.seteuid(0)
                sock.bind(("", PORT))
        except OSError as error:
            return error.errno
        finally:
            os.seteuid(0)
    return 0


def disconnect(sock):
    """connect() to AF_UNSPEC, which Python's sockets cannot do"""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.connect(sock.fileno(), bytes(16), 16):
        raise OSError(ctypes.get_errno(), "connect")


def receive(members, count, seconds=20):
    """Return: a list of (member, sender's port, payload) of the next `count` messages, or fewer after `seconds`"""
    got = []
    while len(got) < count:
        ready = select.select(members, [], [], seconds)[0]
        if not ready:
            break
        for sock in ready:
            data, sender = sock.recvfrom(100)
            got.append((sock, sender[1], data))
    return got


def send(senders, address, payload):
    """Send a message from each socket"""
    for sock in senders:
        sock.sendto(payload, (address, PORT))


def bind_checks(family, address):
    """Which sockets may share a port?"""
    for first, second in (False, False), (False, True), (True, False):
        check(f"{address}: the port is in use, SO_REUSEPORT {int(first)} and {int(second)}",
              refused(family, first, second) == errno.EADDRINUSE)
    check(f"{address}: sockets with SO_REUSEPORT share the port", refused(family, True, True) == 0)
    check(f"{address}: sockets of another user do not",
          refused(family, True, True, OTHER_UID) == errno.EADDRINUSE)


def group_checks(family, address, kind):
    """Messages find their sockets."""
    name = f"{address}, {kind.name}"
    senders = [sock_of(family, kind, share=False) for _ in range(SENDERS)]
    members = [member(family, kind=kind) for _ in range(4)]
    got = []
    for i in range(3):
        send(senders, address, b"%d" % i)
        got += receive(members, SENDERS)
    check(f"{name}: each message arrives once", len({row[1:] for row in got}) == len(got) == 3 * SENDERS)
    homes = {}
    for sock, port, _ in got:
        homes.setdefault(port, set()).add(sock)
    check(f"{name}: all messages of a sender arrive at one socket", all(len(home) == 1 for home in homes.values()))
    check(f"{name}: each socket has senders", len({sock for sock, _, _ in got}) == 4)

    for i, sock in enumerate(senders):
        port = sock.getsockname()[1]
        sock.close()
        senders[i] = sock_of(family, kind, share=False)
        senders[i].bind(("", port))
    send(senders, address, b"3")
    check(f"{name}: a sender's next flow has its socket",
          all(homes[port] == {sock} for sock, port, _ in receive(members, SENDERS)))

    gone = members.pop()
    gone.close()
    send(senders, address, b"4")
    got = receive(members, SENDERS)
    check(f"{name}: when one is closed, its senders find the others", len({row[1] for row in got}) == SENDERS)
    check(f"{name}: the others keep theirs",
          all(homes[port] == {sock} for sock, port, _ in got if homes[port] != {gone}))
    for sock in senders + members:
        sock.close()


def prefer_checks(family, address):
    """Sockets that fit better have all messages."""
    senders = [sock_of(family, share=False) for _ in range(16)]
    members = [member(family), member(family, address), member(family)]
    send(senders, address, b"a")
    got = receive(members, 16)
    check(f"{address}: the socket of the address has all messages", [row[0] for row in got] == 16 * [members[1]])
    for sock in members + senders:
        sock.close()

    cpu = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpu})
    senders = [sock_of(family, share=False) for _ in range(16)]
    members = [member(family), member(family, cpu=cpu), member(family)]
    send(senders, address, b"c")
    got = receive(members, 16)
    check(f"{address}: the socket of the CPU has all messages", [row[0] for row in got] == 16 * [members[1]])
    for sock in members + senders:
        sock.close()


def bound_device(sock):
    """Return: name of the device to which a socket is bound, or b"" """
    return sock.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16).rstrip(b"\0")


def device_checks(family, address):
    """A user who has the port on another device gets no messages of its owner, after a disconnect either."""
    option = socket.SO_BINDTODEVICE
    with sock_of(family, share=False) as owner:
        owner.setsockopt(socket.SOL_SOCKET, option, b"lo")
        owner.bind(("", USER_PORT))
        os.seteuid(OTHER_UID)
        thief = sock_of(family, share=False)
        thief.setsockopt(socket.SOL_SOCKET, option, DEVICE)
        thief.bind((address, USER_PORT))
        disconnect(thief)
        os.seteuid(0)
        check(f"{address}: a disconnect keeps the device of SO_BINDTODEVICE", bound_device(thief) == DEVICE)
        with thief, sock_of(family, share=False) as sender:
            sender.sendto(b"d", (address, USER_PORT))
            got = receive([owner, thief], 1)
        check(f"{address}: the owner of the port on a device has its messages", [row[0] for row in got] == [owner])
    with sock_of(socket.AF_INET6, share=False) as sock:
        sock.connect(("fe80::1", USER_PORT, 0, socket.if_nametoindex(DEVICE)))
        check("connect() to a link-local address binds to its device", bound_device(sock) == DEVICE)
        disconnect(sock)
        check("a disconnect releases the device of connect()", bound_device(sock) == b"")


def churn_checks(family, address):
    """Members come and go under traffic."""
    failed = 0
    with member(family) as stays:
        senders = [sock_of(family, share=False) for _ in range(16)]
        for sock in senders:
            sock.connect((address, PORT))
            sock.setblocking(False)
        for _ in range(60):
            with member(family) as comes:
                for sock in senders:
                    failed += sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0
                    sock.send(b"x")
                receive([comes], 1, 0.01)
            receive([stays], 16, 0)
        for sock in senders:
            failed += sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0
            sock.close()
    check(f"{address}: no message fails while a socket comes and goes", failed == 0)


def linger_checks():
    """A socket whose close() waits for its messages takes no new ones."""
    family, address = ADDRESSES[0]
    failed = 0
    begun, done = os.pipe()
    if not os.fork():
        sock = member(family)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 1))
        sock.sendto(b"x", (SILENT, PORT))
        os.write(done, b"x")
        sock.close()
        os._exit(0)
    os.read(begun, 1)
    time.sleep(0.1)
    with member(family) as stays:
        senders = [sock_of(family, share=False) for _ in range(16)]
        for sock in senders:
            sock.connect((address, PORT))
            sock.send(b"x")
        got = receive([stays], 16, 5)
        failed = sum(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0 for sock in senders)
        for sock in senders:
            sock.close()
    check("a socket whose close() waits gets no messages", len(got) == 16 and not failed)
    os.wait()


def main():
    """All checks"""
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    for family, address in ADDRESSES:
        bind_checks(family, address)
        for kind in socket.SOCK_RDM, socket.SOCK_SEQPACKET:
            group_checks(family, address, kind)
        prefer_checks(family, address)
    # bind() of IPv6 wants an address of the socket's device
    device_checks(*ADDRESSES[0])
    linger_checks()
    # last, because its senders still have messages when they are closed
    for family, address in ADDRESSES:
        churn_checks(family, address)


if __name__ == "__main__":
    main()
