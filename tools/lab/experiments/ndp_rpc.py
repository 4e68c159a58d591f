# SPDX-License-Identifier: GPL-2.0-only
"""Requests and answers of 1 KB between two hosts: completion times of transports beside UDP.

After Fig. 8 of the NDP paper (SIGCOMM 2017). A client sends a request, and the next one after a random gap once it has
the answer. Server and client sleep while they wait. Schemes:

    udp             a datagram in each direction: the minimum
    ndp             a message in each direction on existing sockets
    ndp-new         the same, but the client opens a socket for each request
    tcp             a connection for each request: connect(), request, answer, close()
    tcp-fastopen    the same; the SYN carries the request and a known cookie
    tcp-warm        an existing connection

Times are from before the client's first system call for a request until it has the whole answer. CPUs are infinitely
fast here, so the results show round trips and bytes on the wire, not the cost of the stacks. In the case `busy`,
`others` additional hosts send to the server all the time by the same transport (beside udp: dctcp).
"""
import contextlib
import os
import random
import signal
import socket
import subprocess
import time

from closlab import ndp, topo
from closlab.guest import sleep_until
from closlab.params import Param
from closlab.results import quantile
from closlab.tcp import AROUND

PARAMS = [
    Param("mtu", "size", "1500", "MTU of all links"),
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "4us", "delay of each link; the path has one switch"),
    Param("bytes", "size", "1000", "size of a request and of an answer"),
    Param("count", "count", "1000", "number of requests of a case"),
    Param("cases", "word", "idle,busy", "cases without and with other traffic", several=True, choices=("idle", "busy")),
    Param("others", "count", "2", "additional senders to the server in the case busy"),
    Param("gap", "time", "20us", "maximum of the random gap between an answer and the next request"),
    Param("limit", "count", "8", "data queue of a trimming port, packets"),
    Param("buffer", "size", "1M", "buffer of TCP's port"),
    Param("k", "size", "98k", "marking threshold of TCP's port"),
]
SMALL = {"count": "5", "cases": "idle", "others": "1"}
SCHEMES = ("udp", "ndp", "ndp-new", "tcp", "tcp-fastopen", "tcp-warm")
MEMORY = 4  # GiB

# schemes that NDP is compared with
BESIDE = {"idle": ("tcp",), "busy": ("tcp", "tcp-fastopen", "tcp-warm")}
IPPROTO_NDP = 259
TCP_FASTOPEN, TCP_FASTOPEN_CONNECT = 23, 30
ECT0 = 2
PORT = 30000
WARMUP_NS = 2_000_000       # before the first evaluated request: other senders reach their rate
UNCOUNTED = 3               # requests before that, which fetch TCP's cookie
READ = 65536


# ---- in the guest

def is_ndp(scheme):
    return scheme.startswith("ndp")


def new_socket(scheme):
    if is_ndp(scheme):
        return socket.socket(socket.AF_INET, socket.SOCK_RDM, IPPROTO_NDP)
    if scheme == "udp":
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ECT0)     # a marking port drops packets that are not ECT
        return s
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def receive(s, size):
    """Receive SIZE bytes. Return: them, or no bytes if the peer has closed the connection."""
    left = size
    while left:
        data = s.recv(min(left, READ))
        if not data:
            return b""
        left -= len(data)
    return bytes(size)


def listener(scheme, address):
    s = new_socket(scheme)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, PORT))
    if scheme.startswith("tcp"):
        s.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN, 16)
        s.listen()
    return s


def serve(scheme, s, size):
    """Answer requests forever."""
    while not scheme.startswith("tcp"):
        request, client_address = s.recvfrom(READ)
        s.sendto(request, client_address)
    while True:
        connection, _ = s.accept()
        with connection:
            while request := receive(connection, size):
                connection.sendall(request)


@contextlib.contextmanager
def server(scheme, node, size):
    """Run a server process on the host NODE during the body of a `with`."""
    with topo.inside(node):
        s = listener(scheme, node.address)
    child = os.fork()
    if not child:
        try:
            serve(scheme, s, size)
        finally:
            os._exit(1)
    s.close()
    try:
        yield
    finally:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)


def connected(scheme, address):
    s = new_socket(scheme)
    if scheme == "tcp-fastopen":
        s.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
    s.connect((address, PORT))
    return s


def send_request(scheme, address, size, kept):
    """Send a request and receive the answer. Return: its time, ns."""
    begin = time.monotonic_ns()
    s = kept or connected(scheme, address)
    s.sendall(bytes(size))
    if not receive(s, size):
        raise RuntimeError("server has closed the connection")
    took = time.monotonic_ns() - begin
    if not kept:
        s.close()
    return took


def client(lab, node, address):
    """Send all requests of a case from the host NODE. Return: their times, ns."""
    p = lab.params
    chance = random.Random(lab.seed)
    times = []
    with topo.inside(node):
        kept = None if lab.scheme in ("ndp-new", "tcp", "tcp-fastopen") else connected(lab.scheme, address)
        for number in range(UNCOUNTED + p.count):
            if number == UNCOUNTED:
                sleep_until(lab.origin + WARMUP_NS)
            times.append(send_request(lab.scheme, address, p.bytes, kept))
            time.sleep(chance.randrange(p.gap + 1) / 1e9)
    return times[UNCOUNTED:]


def measure(lab, net, case):
    p = lab.params
    lab.begin()
    background = None
    if case == "busy":
        words = lab.generator(net, "--time", "10s", "--drain", "0ns", "bulk", "src=h3-h%d" % (p.others + 2), "dst=h2",
                              ndp.transport("ndp" if is_ndp(lab.scheme) else "dctcp"))
        background = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    with server(lab.scheme, net.nodes["h2"], p.bytes):
        sleep_until(lab.origin)
        times = client(lab, net.nodes["h1"], net.nodes["h2"].address)
    if background:
        background.terminate()
        background.wait()
    lab.end()
    with open(lab.path("times-%s.csv" % case), "w", encoding="ascii") as f:
        f.write("ns\n" + "".join("%d\n" % ns for ns in times))


def guest(lab):
    p = lab.params
    net = topo.star(p.others + 2, p.rate, p.delay, mtu=p.mtu)
    frame = p.mtu + ndp.FRAME_HEADER
    for port in net.switch_ports():
        port.ring = 2       # packets queue in the qdisc
        port.qdisc = ndp.qdisc(p.limit) if is_ndp(lab.scheme) else \
            ndp.beside("dctcp", frame, p.rate, p.buffer // frame, p.k // frame)
    for port in net.host_ports():
        port.ring, port.qdisc = 4, ndp.HOST_QDISC if is_ndp(lab.scheme) else "fq"
    lab.expect(len(p.cases) * (WARMUP_NS + p.count * 2 * ideal_ns(p)))
    if is_ndp(lab.scheme):
        ndp.build(lab, net)
    else:
        net.host_sysctls["ipv4/tcp_congestion_control"] = "dctcp"
        net.host_sysctls["ipv4/tcp_fastopen"] = "3"
        net.build()
    for case in p.cases:
        measure(lab, net, case)


# ---- on the host

def ideal_ns(params):
    """Return: time of a datagram in each direction, with store and forward at the switch, ns."""
    return round(4 * params.delay + 4 * (params.bytes + 28 + AROUND) * 8e9 / params.rate)


def report(run):
    p = run.params
    times = {(scheme, case): run.csv(scheme, "times-%s.csv" % case)["ns"] for scheme in run.schemes for case in p.cases}
    for case in p.cases:
        run.text("%s: time of a request and its answer, µs" % case, "")
        floor = quantile(times["udp", case], 0.5) if "udp" in run.schemes else ideal_ns(p)
        run.table(("scheme", "min", "median", "p99", "max", "median over udp's"),
                  [(scheme,) + tuple(quantile(times[scheme, case], q) / 1e3 for q in (0, 0.5, 0.99, 1)) +
                   (quantile(times[scheme, case], 0.5) / floor,) for scheme in run.schemes])
        for scheme in ("ndp", "ndp-new"):
            for other in BESIDE[case]:
                if {scheme, other} <= set(run.schemes):
                    compare(run, times, case, scheme, other)
    if not run.small:
        draw(run, times)


def compare(run, times, case, scheme, other):
    for name, q in (("median", 0.5), ("p99", 0.99)):
        run.claim("%s-%s-%s-%s" % (case, scheme, other, name), "%s, %s of the times: %s over %s" % (
            case, name, other, scheme), quantile(times[other, case], q) / quantile(times[scheme, case], q), "> 1")


TICKS_US = {"idle": (20, 25, 30, 35), "busy": (20, 30, 50, 100, 200)}


def draw(run, times):
    """Draw the distribution of the times, an axis for each case."""
    cases = run.params.cases
    _, axes = run.figure("ndp-rpc", 1, len(cases), (4.2 * len(cases), 3.2))
    for column, case in enumerate(cases):
        axis = axes[column] if len(cases) > 1 else axes
        for scheme in run.schemes:
            some = sorted(times[scheme, case])
            axis.step([ns / 1e3 for ns in some], [(i + 1) / len(some) for i in range(len(some))],
                      color=run.colour(scheme), label=scheme, where="post")
        axis.set(xscale="log", title=case, xlabel="time, µs", ylabel="share of the requests")
        axis.set_xticks(TICKS_US[case], TICKS_US[case])
        axis.minorticks_off()
    axis.legend(fontsize=7, loc="center", bbox_to_anchor=(0.36, 0.4))
