# SPDX-License-Identifier: GPL-2.0-only
"""One-way delays of the frames that arrive at closwire ports, in the guest: measurement, CSV files."""
import struct

from closlab import topo

ETHTOOL_SET_DUMP, ETHTOOL_GET_DUMP_FLAG, ETHTOOL_GET_DUMP_DATA = 0x3e, 0x3f, 0x40
HEAD = struct.Struct("4I")      # struct ethtool_dump: command, version, flag, length
PARTS = 16                      # buckets of an octave, as in net/closwire/closwire_delay.c
BUCKETS = 61 * PARTS
DATA = struct.Struct("%dQ" % (2 + BUCKETS))     # struct closwire_delays: smallest, largest, frames of each bucket
VERSION = 1
COLUMNS = ("port", "from_ns", "to_ns", "frames")


def lower_ns(bucket):
    """Return: smallest delay of a bucket, ns."""
    octave = max(0, bucket // PARTS - 1)
    return bucket - octave * PARTS << octave


def rows(smallest, largest, frames):
    """Return: [(smallest delay, largest delay, frames)] of the buckets with frames. The first bucket begins with the
    smallest measured delay, the last one ends with the largest."""
    return [(max(lower_ns(i), smallest), min(lower_ns(i + 1) - 1, largest), count)
            for i, count in enumerate(frames) if count]


def set_dump(port, flag):
    with topo.inside(port.node):
        topo.ethtool(port.dev, ETHTOOL_SET_DUMP, 0, flag, 0)


def start(ports):
    """Start a measurement of the ports from zero."""
    for port in ports:
        set_dump(port, 1)


def stop(port):
    """End the measurement of a port. Return: as rows()"""
    with topo.inside(port.node):
        about = topo.device_ioctl(port.dev, topo.SIOCETHTOOL, HEAD.pack(ETHTOOL_GET_DUMP_FLAG, 0, 0, 0))
        answer = topo.device_ioctl(port.dev, topo.SIOCETHTOOL,
                                   HEAD.pack(ETHTOOL_GET_DUMP_DATA, 0, 0, DATA.size) + bytes(DATA.size))
    _, version, _, length = HEAD.unpack_from(about)
    if (version, length) != (VERSION, DATA.size):
        raise RuntimeError("format %d of closwire's delays, %d bytes, is not supported" % (version, length))
    smallest, largest, *frames = DATA.unpack_from(answer, HEAD.size)
    set_dump(port, 0)
    return rows(smallest, largest, frames)


def write(path, ports):
    """End the measurement of the ports and write its histograms to a CSV file."""
    with open(path, "w", encoding="ascii") as f:
        f.write(",".join(COLUMNS) + "\n")
        for port in ports:
            f.writelines("%s/%s,%d,%d,%d\n" % (port.node.name, port.dev, *row) for row in stop(port))
