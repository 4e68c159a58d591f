# SPDX-License-Identifier: GPL-2.0-only
"""Shared by experiments with RDMA: sizes of RoCEv2's packets, counters of rxe."""

MTU = 4200                      # of the links, for packets with 4096 bytes of data
DATA = 4096
HEADERS = 20 + 8 + 12 + 4       # bytes of IP, UDP, BTH and ICRC
AROUND = 14 + 24                # bytes on the wire besides an IP packet
WIRE = AROUND + HEADERS + DATA  # a full packet
SHARE = DATA / WIRE             # the largest goodput, as a share of the line rate
COUNTERS = ("sent_pkts", "rcvd_pkts", "out_of_seq_request", "completer_retry_err", "send_err")


def write_counters(path, net):
    """In the guest: write a CSV file with the counters of each host's rxe device."""
    with open(path, "w", encoding="ascii") as out:
        out.write(",".join(("host", *COUNTERS)) + "\n")
        for host in net.hosts():
            words = [host.name]
            for name in COUNTERS:
                counter = "/sys/class/infiniband/%s/ports/1/hw_counters/%s" % (host.name, name)
                with open(counter, encoding="ascii") as f:
                    words.append(f.read().strip())
            out.write(",".join(words) + "\n")
