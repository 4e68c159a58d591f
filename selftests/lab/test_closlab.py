#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Unit tests of the lab's library: parameters, CSV, claims, topologies. No guest, no root."""
import contextlib
import io
import ipaddress
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "lab"))
from closlab import cpu, delays, experiment, guest, inputs, lb, ndp, params, pcrp, pooled  # noqa: E402
from closlab import results, runner, shell, statistics, sweep, topo, trace, virtual  # noqa: E402
from closlab.params import BadValue, Param  # noqa: E402
import published  # noqa: E402

EXAMPLE = '''
"""An example.

More about it.
"""
from closlab.params import Param
PARAMS = [Param("senders", "count", "8", "hosts that send"), Param("load", "number", "0.5", "of the link")]
SMALL = {"senders": "2"}
SCHEMES = ("a", "b")
def guest(lab):
    pass
def report(run):
    times = run.csv("a", "x.csv")["time_ns"]
    run.table(("scheme", "last"), [("a", times[-1])])
    run.claim("last", "the last time", times[-1], ">= %d" % run.params.senders)
    run.figure("times")[1].plot(times)
'''


class Parameters(unittest.TestCase):
    def test_values_with_units_are_parsed(self):
        for kind, text, value in (("rate", "10gbit", 10**10), ("rate", "1.5mbit", 1500000), ("rate", "1bit", 1),
                                  ("time", "5us", 5000), ("time", "0.5ns", None), ("time", "1.25ms", 1250000),
                                  ("size", "9000", 9000), ("size", "64k", 64000), ("size", "64Ki", 65536),
                                  ("count", "0", 0), ("number", "0.6", 0.6), ("word", "x", "x")):
            with self.subTest(kind=kind, text=text):
                if value is None:
                    self.assertRaises(BadValue, Param, "p", kind, text, "")
                else:
                    self.assertEqual(Param("p", kind, text, "").parse(text), value)

    def test_error_of_a_bad_value_names_the_allowed_ones(self):
        for kind, text, expected in (("rate", "10", "gbit"), ("rate", "10Gbit", "gbit"), ("time", "5", "us"),
                                     ("time", "-5us", "us"), ("count", "-1", "count"), ("count", "1.5", "count"),
                                     ("number", "x", "number"), ("size", "1kB", "Ki"), ("time", "", "us")):
            param = Param("p", kind, {"rate": "1bit", "time": "1s", "word": "a"}.get(kind, "1"), "")
            with self.subTest(kind=kind, text=text), self.assertRaisesRegex(BadValue, "p: .*" + expected):
                param.parse(text)

    def test_list_of_values_is_parsed(self):
        self.assertEqual(Param("p", "rate", "1gbit,10gbit", "", several=True).parse("1kbit, 2kbit"), [1000, 2000])

    def test_error_of_a_bad_word_names_the_choices(self):
        param = Param("p", "word", "red", "", choices=("red", "codel"))
        self.assertRaisesRegex(BadValue, "red, codel", param.parse, "fq")

    def test_bad_default_is_refused(self):
        self.assertRaises(BadValue, Param, "p", "rate", "10", "")
        self.assertRaises(BadValue, Param, "p", "speed", "10", "")

    def test_texts_merge_defaults_and_given_values(self):
        known = [Param("a", "count", "1", ""), Param("b", "time", "1s", "")]
        self.assertEqual(params.texts(known, {"b": "2s"}), {"a": "1", "b": "2s"})
        self.assertRaisesRegex(BadValue, '"c".*a b', params.texts, known, {"c": "1"})
        self.assertRaisesRegex(BadValue, "a: ", params.texts, known, {"a": "x"})

    def test_assignments_are_parsed(self):
        self.assertEqual(params.assignments(["a=1", "b=x=y"]), {"a": "1", "b": "x=y"})
        self.assertRaisesRegex(BadValue, "key=value", params.assignments, ["a"])


class Statistics(unittest.TestCase):
    def test_quantile_is_a_value(self):
        values = list(range(100, 0, -1))
        self.assertEqual([results.quantile(values, q) for q in (0, 0.5, 0.99, 1)], [1, 50, 99, 100])
        self.assertEqual(results.quantile([7], 0.5), 7)

    def test_jains_index(self):
        self.assertEqual(results.jain([3, 3, 3]), 1)
        self.assertEqual(results.jain([1, 0, 0, 0]), 0.25)
        self.assertEqual(results.jain([0, 0]), 1)

    def test_quantile_of_a_histogram_is_the_end_of_its_bucket(self):
        delay = results.Histogram({"from_ns": [6220, 10, 7000], "to_ns": [6399, 10, 7001], "frames": [98, 1, 1]})
        self.assertEqual(delay.count, 100)
        self.assertEqual([delay.quantile(q) for q in (0, 0.01, 0.02, 0.99, 1)], [10, 10, 6399, 6399, 7001])
        self.assertTrue(math.isnan(results.Histogram({"from_ns": [], "to_ns": [], "frames": []}).quantile(0.5)))

    def test_buckets_of_delays_end_at_the_extremes(self):
        frames = [0] * delays.BUCKETS
        self.assertEqual(delays.rows(2**64 - 1, 0, frames), [])
        frames[3], frames[16], frames[33] = 1, 2, 3
        self.assertEqual(delays.rows(3, 35, frames), [(3, 3, 1), (16, 16, 2), (34, 35, 3)])
        frames = [0] * delays.BUCKETS
        frames[155] = 9
        self.assertEqual((delays.lower_ns(155), delays.lower_ns(156)), (6912, 7168))
        self.assertEqual(delays.rows(7000, 7000, frames), [(7000, 7000, 9)])

    def test_schemes_of_an_experiment_have_different_colours(self):
        for name in experiment.names():
            with self.subTest(name):
                schemes = experiment.load(name).SCHEMES
                found = results.colours(schemes)
                self.assertLessEqual(len(schemes), len(results.COLOURS))
                self.assertEqual(len(set(found.values())), len(schemes))

    def test_a_scheme_has_the_same_colour_in_all_experiments(self):
        experiments = {name: experiment.load(name).SCHEMES for name in experiment.names()}
        several = {scheme for schemes in experiments.values() for scheme in schemes
                   if sum(scheme in others for others in experiments.values()) > 1}
        self.assertEqual(several - set(results.SCHEME_COLOURS), set())

    def test_bars_hold_or_fail(self):
        for value, bar, good in ((9.4, ">= 9.4", True), (9.3, ">= 9.4", False), (1, "<= 1", True), (1, "< 1", False),
                                 (2, "> 1", True), (0, "== 0", True), (1, "0.9..1.1", True), (1.2, "0.9..1.1", False),
                                 (-1, "-2..-0.5", True), (1e-3, "1e-3..2e-3", True)):
            with self.subTest(value=value, bar=bar):
                self.assertIs(results.holds(value, bar), good)
        self.assertRaises(ValueError, results.holds, 1, "about 1")

    def test_layout_aligns_columns(self):
        self.assertEqual(list(results.layout(("name", "n"), [("a", 1), ("bc", 22.5)])),
                         ["name     n", "a        1", "bc    22.5"])


class Seeds(unittest.TestCase):
    """Statistics over seeds"""

    def test_interval_contains_the_mean_of_most_samples(self):
        draw = random.Random(1)
        for count in 3, 5, 20, 40:
            with self.subTest(count=count):
                pairs = [statistics.interval([draw.gauss(5, 1) for _ in range(count)]) for _ in range(1000)]
                self.assertIn(sum(low <= 5 <= high for low, high in pairs), range(930, 970))
        self.assertEqual(statistics.interval([3, 3, 3]), (3, 3))

    def test_claims_are_judged_on_the_interval(self):
        for values, bar, expected in (
                ([9, 9.1, 9.2, 9, 9.1], ">= 8", "holds"), ([9, 9.1, 9.2, 9, 9.1], ">= 9.05", "open"),
                ([9, 9.1, 9.2, 9, 9.1], "< 8.9", "fails"), ([0] * 5, "== 0", "holds"), ([0, 0, 0, 0, 3], "== 0", "open"),
                ([2, 3, 2, 3, 2], "== 0", "fails"), ([1, 1.01, 1.02, 1, 1], "0.9..1.1", "holds"),
                ([1, 1.3, 1, 1, 1.3], "0.9..1.1", "open"), ([-3, -3.1, -3, -3, -3], "-2..-0.5", "fails"),
                ([9] * 4, ">= 8", "open")):
            with self.subTest(values=values, bar=bar):
                self.assertEqual(statistics.verdict(values, bar), expected)

    def test_steady_state_begins_after_the_warm_up(self):
        draw = random.Random(1)
        steady = [10 + draw.random() for _ in range(400)]
        warm_up = [0.1 * i for i in range(100)]
        self.assertIn(statistics.steady_from(warm_up + steady), range(85, 125))
        self.assertEqual(statistics.steady_from([7] * 100), 0)
        self.assertRaisesRegex(ValueError, "no steady state", statistics.steady_from, list(range(200)))
        self.assertRaisesRegex(ValueError, "too few", statistics.steady_from, [1] * 10)

    def test_realized_load_counts_bytes_of_the_window(self):
        flows = results.Columns(bytes=[1000, 5000, 2500, 9], start_ns=[0, 500, 999, ""])
        self.assertEqual(statistics.realized_load(flows, 8 * 10**9, 500, 1500), 7.5)

    def test_tail_of_few_values_is_refused(self):
        samples = [[float(i) for i in range(200)]] * 5
        self.assertEqual(statistics.pooled_tail(samples), (198, (198, 198)))
        self.assertRaisesRegex(ValueError, "999 values .* at least 1000", statistics.pooled_tail, [[1] * 333] * 3)


class Pooled(unittest.TestCase):
    HEADER = "name,bytes,start_ns,slowdown,state\n"

    def write(self, slowdowns):
        """Write flows of 500 bytes with the SLOWDOWNS of each seed, one per µs. Return: lines of their table, CSV rows."""
        with tempfile.TemporaryDirectory() as top:
            for number, seed in enumerate(slowdowns):
                os.makedirs(os.path.join(top, str(number), "ndp"))
                with open(os.path.join(top, str(number), "ndp", "flows-x-0.5.csv"), "w", encoding="ascii") as f:
                    f.write(self.HEADER + "poisson,1000000,,,waiting\n")
                    f.writelines("poisson,500,%d,%g,done\n" % (1000 * i, value) for i, value in enumerate(seed))
                with open(os.path.join(top, str(number), "ndp", "flows-bulk.csv"), "w", encoding="ascii") as f:
                    f.write(self.HEADER + "bulk,500,0,1,done\n")
            path = os.path.join(top, "pooled.csv")
            lines = pooled.write([os.path.join(top, str(n)) for n in range(len(slowdowns))], ["ndp", "tcp"], path)
            return lines, list(results.read_csv(path).rows())

    def test_tails_have_intervals_over_seeds(self):
        lines, rows = self.write([[1 + i % 100 for i in range(500)]] * 2)
        self.assertEqual([row["class"] for row in rows], ["all", "<= 1 KB"])
        self.assertEqual(rows[1]["case"], "x-0.5")
        self.assertEqual([rows[1][key] for key in ("flows", "p99 slowdown", "low", "high")], [1000, 100, 100, 100])
        self.assertAlmostEqual(rows[0]["offered Gbit/s"], 4, 2)
        self.assertIn("p99 slowdown", lines[0])

    def test_few_flows_have_no_tail(self):
        self.assertEqual({row["p99 slowdown"] for row in self.write([[1.0] * 499] * 2)[1]}, {"-"})

    def test_growing_slowdowns_are_never_steady(self):
        self.assertEqual(self.write([[1.0] * 600, list(range(1, 601))])[1][0]["steady from %"], "never")
        self.assertEqual(self.write([[1.0] * 600] * 2)[1][0]["steady from %"], 0)
        self.assertEqual(self.write([[1.0] * 9])[1][0]["steady from %"], "-")


class Sizes(unittest.TestCase):
    def test_a_cap_may_be_a_point_of_the_distribution(self):
        for cap in (10**6, 10**6 + 1):
            found = pcrp.points("websearch", cap)
            self.assertEqual(found[-1], (cap, 1))
            self.assertEqual(len(found), len(set(found)))
            self.assertEqual(found, sorted(found))
        self.assertEqual(pcrp.points("websearch", 10**9), pcrp.points("websearch"))


class Published(unittest.TestCase):
    def test_commands_of_published_runs_come_from_the_page(self):
        page = (":Command: ``tools/lab/lab sweep voq --seeds 1..5 --scheme a,b --set rtt=5us,6us\n   rate=1gbit"
                " --memory 4``\n::\n\n   tools/lab/lab sweep voq --seeds 1..5 \\\n      --set rtt=7us --out out/seven\n"
                "as with ``tools/lab/lab sweep voq --scheme c --set rtt=5us rate=1gbit`` and ``tools/lab/lab run voq``")
        first, seven = ["voq", "--scheme", "a,b", "--memory", "4", "--set"], ["voq", "--set", "rtt=7us"]
        self.assertEqual(published.commands_of(page), {
            "rate=1gbit_rtt=5us": first + ["rtt=5us", "rate=1gbit"],
            "rate=1gbit_rtt=6us": first + ["rtt=6us", "rate=1gbit"], "rtt=7us": seven, "seven": seven})
        self.assertEqual(published.commands_of("``tools/lab/lab sweep voq``"), {"default": ["voq"]})

    def test_each_published_point_has_its_command(self):
        names = [name[:-len("-claims.csv")] for name in os.listdir(published.PAGES) if name.endswith("-claims.csv")]
        pages = {name: page for name in names if (page := published.load(name))}
        self.assertTrue(pages)
        for name, (commands, rows) in pages.items():
            with self.subTest(name=name):
                self.assertLessEqual({published.point_of(row) for row in rows}, set(commands))


class Sweeps(unittest.TestCase):
    PARAMS = [Param("load", "number", "0.5", "", held_out=("0.3", "0.9")), Param("flows", "count", "2,8", "",
              several=True, held_out=("2", "64")), Param("time", "time", "5ms", ""),
              Param("bytes", "size", "1k,2k", "", several=True, held_out=("100", "1M"))]

    def test_seeds_are_lists_and_ranges(self):
        self.assertEqual(sweep.parse_seeds("1..3,7,2"), [1, 2, 3, 7])
        for text in ("", "3..1", "a", "1..18446744073709551616", "-1"):
            with self.subTest(text=text):
                self.assertRaises(BadValue, sweep.parse_seeds, text)

    def test_grid_combines_values_but_not_lists(self):
        given = {"load": "0.5,0.8", "flows": "2,8"}
        self.assertEqual(sweep.grid(self.PARAMS, given),
                         [{"load": "0.5", "flows": "2,8"}, {"load": "0.8", "flows": "2,8"}])
        self.assertEqual(len(sweep.grid(self.PARAMS, {"flows": "2+8,16"})), 2)
        self.assertEqual(sweep.grid(self.PARAMS, {}), [{}])

    def test_held_out_values_are_in_their_ranges_and_repeatable(self):
        for seed in range(50):
            points, seeds = sweep.held_out(self.PARAMS, {}, 5, random.Random(seed))
            self.assertEqual((points, seeds), sweep.held_out(self.PARAMS, {}, 5, random.Random(seed)))
            values = params.Values(self.PARAMS, params.texts(self.PARAMS, points[0]))
            self.assertTrue(0.3 <= values.load <= 0.9)
            self.assertTrue(len(values.flows) == 2 and 2 <= values.flows[0] < values.flows[1] <= 64)
            self.assertTrue(100 <= values.bytes[0] <= values.bytes[1] <= 10**6)
            self.assertEqual(values.time, 5 * 10**6)
            self.assertGreaterEqual(min(seeds), 10**6)
        self.assertEqual(sweep.held_out(self.PARAMS, {"load": "0.7"}, 1, random.Random(1))[0][0]["load"], "0.7")
        self.assertRaises(BadValue, Param, "p", "word", "a", "", held_out=("a", "b"))

    def test_held_out_sizes_are_short_and_long(self):
        source = random.Random(1)
        sizes = [size for _ in range(100) for size in self.PARAMS[-1].parse(self.PARAMS[-1].draw(source))]
        self.assertTrue(70 < sum(size < 10**4 for size in sizes) < 130)

    def test_experiments_can_be_held_out(self):
        for name in ("dcqcn-dctcp", "dcqcn-fair", "dcqcn-join", "dctcp-known", "ndp-incast", "rdma-dcqcn",
                     "timely-fair", "timely-swift"):
            with self.subTest(name=name):
                own = experiment.load(name).PARAMS
                point = sweep.held_out(own, {}, 1, random.Random(1))[0][0]
                self.assertTrue(point)
                for values in params.Values(own, params.texts(own, point)).__dict__.values():
                    self.assertTrue(not isinstance(values, list) or len(values) == len(set(values)))

    def test_guests_fit_into_memory(self):
        free = "MemTotal: 99\nMemAvailable: %d kB\n"
        for gib, memory, jobs, expected in ((10, 2, 8, 4), (10, None, 3, 3), (1, 4, 8, 1)):
            with self.subTest(gib=gib, memory=memory), \
                    mock.patch("builtins.open", mock.mock_open(read_data=free % (gib << 20))):
                self.assertEqual(sweep.guests_at_once(mock.Mock(memory=memory, kernel="uml", jobs=jobs)), expected)

    def test_cells_have_means_and_intervals(self):
        header, rows = sweep.merged([(("case", "value"), [("a", value), ("b", 7)]) for value in (1.0, 2.0, 3.0)])
        self.assertEqual(header, ("case", "value"))
        self.assertEqual(rows[0][1], "2 ± 2")
        self.assertEqual((rows[0][0], rows[1]), ("a", ["b", 7]))
        self.assertIsNone(sweep.merged([(("a",), [(1,)]), (("a",), [(1,), (2,)])]))

    def test_one_run_of_a_seed_is_a_number(self):
        self.assertEqual(lb.with_interval([2.5]), 2.5)
        self.assertEqual(lb.with_interval([1, 3]), "2.000 +- 12.710")
        self.assertIsNone(lb.errors([[2.5], [3]]))
        self.assertEqual([round(half, 2) for half in lb.errors([[1, 3], [2, 2]])], [12.71, 0])

    def test_means_have_the_digits_that_the_interval_justifies(self):
        for middle, half, text in ((97.414, 0.8, "97.4 ± 0.8"), (0.85841, 0.00114, "0.8584 ± 0.0011"),
                                   (34.2, 32.4, "30 ± 30"), (104.3, 9.96, "104 ± 10"), (22160, 1412, "22200 ± 1400"),
                                   (5.12, 0.962, "5.1 ± 1.0"), (-0.2, 0.31, "-0.2 ± 0.3"), (1 / 3, 0, "0.3333"),
                                   (0, 0, "0"), (2, 1e-9, "2"), (math.nan, math.nan, "nan")):
            with self.subTest(middle=middle, half=half):
                self.assertEqual(statistics.plus_minus(middle, half), text)

    def test_tables_have_columns_for_intervals(self):
        tables = [(("case", "flows", "value"), [("a", 2, value), ("b", 2, "-")]) for value in (1.0, 2.0, 3.0)]
        header, rows = sweep.spread(tables)
        self.assertEqual(header, ("case", "flows", "value", "value low", "value high"))
        self.assertEqual((rows[0][:3], rows[1]), (("a", 2, 2.0), ("b", 2, "-", "", "")))
        self.assertAlmostEqual(rows[0][3] + rows[0][4], 4)
        self.assertIsNone(sweep.spread([(("a",), [(1,)]), (("a",), [(1,), (2,)])]))


class FlowsOfPcrp(unittest.TestCase):
    """Statistics of closlab.pcrp.Flows"""

    @staticmethod
    def flows(slowdowns, **more):
        rows = [dict({"flow": i, "bytes": 1000, "fct_ns": 1000, "state": "done", "slowdown": s}, **more)
                for i, s in enumerate(slowdowns)]
        run = mock.Mock()
        run.csv.return_value.rows.return_value = rows
        return pcrp.Flows(run, "scheme", "case")

    def test_95_percent_range_contains_the_quantile(self):
        draw, truth, inside = random.Random(1), 0.9, 0
        for _ in range(1000):
            low, high = self.flows([draw.random() for _ in range(200)]).quantile_range(0.9)
            inside += low <= truth <= high
        self.assertGreater(inside, 930)
        self.assertLess(inside, 980)

    def test_range_of_few_flows_is_their_extremes(self):
        self.assertEqual(self.flows([3, 1, 2]).quantile_range(0.5), [1, 3])

    def test_ratio_compares_pairs_of_flows(self):
        one, other = [2.0, 4.0, 60.0], [1.0, 2.0, 30.0]
        self.assertEqual(self.flows(one).ratio(self.flows(other)), (2.0, 0.0))
        ratio, off = self.flows([3.0, 3.0, 60.0]).ratio(self.flows(other))
        self.assertEqual(ratio, 2.0)
        self.assertAlmostEqual(off, 1.96 * (1 / 3) ** 0.5 / 11)

    def test_ratio_ignores_flows_without_a_pair(self):
        self.assertEqual(self.flows([2.0, 4.0, 9.0]).ratio(self.flows([1.0, 2.0])), (2.0, 0.0))

    def test_typical_is_the_geometric_mean(self):
        self.assertAlmostEqual(self.flows([2.0, 8.0]).typical(self.flows([1.0, 1.0])), 4.0)

    def test_statistics_without_flows_are_nan(self):
        flows = self.flows([5.0], state="waiting")
        self.assertEqual(flows.missed, 1)
        self.assertNotEqual(flows.mean(), flows.mean())
        self.assertNotEqual(flows.quantile(0.99), flows.quantile(0.99))


class SwitchesOfPcrp(unittest.TestCase):
    """Qdiscs of closlab.pcrp.switch_qdiscs()"""

    @staticmethod
    def pools(pfc):
        net = topo.star(2, topo.GBIT, 1000)
        pcrp.switch_qdiscs(net, 500, pfc=pfc)
        return {line.partition(" pool ")[2] for port in net.switch_ports() for line in port.qdisc if " pool " in line}

    def test_ports_have_lossy_buffers_of_their_own(self):
        self.assertEqual(self.pools(False), {"port0 buffer 500 pfc none", "port1 buffer 500 pfc none"})

    def test_with_pfc_ports_share_a_lossless_buffer(self):
        self.assertEqual(self.pools(True), {"switch buffer 1000 pfc all cable 1000ns xoff dynamic beta 8"})


class Files(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.write("selftests/example.py", EXAMPLE)
        patch = mock.patch.object(experiment, "DIRECTORY", os.path.join(self.directory, "selftests"))
        patch.start()
        self.addCleanup(patch.stop)

    def write(self, name, text):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def read(self, name):
        with open(os.path.join(self.directory, name), "rb") as f:
            return f.read()

    def run_directory(self, name="run", **changed):
        about = {"experiment": "example", "params": {"senders": "8", "load": "0.5"}, "schemes": ["a"], "seed": 1,
                 "small": False, **changed}
        self.write(name + "/params.json", json.dumps(about))
        self.write(name + "/a/x.csv", "time_ns,port\n5,x\n9,y\n")
        return os.path.join(self.directory, name)

    def test_csv_is_read_and_filtered(self):
        columns = results.read_csv(self.write("a.csv", "time_ns,port,share\n1,x,0.5\n2,y,\n"))
        self.assertEqual(columns, {"time_ns": [1, 2], "port": ["x", "y"], "share": [0.5, ""]})
        self.assertEqual(columns.where(port="y"), {"time_ns": [2], "port": ["y"], "share": [""]})
        self.assertEqual(columns.rows()[0], {"time_ns": 1, "port": "x", "share": 0.5})
        self.assertEqual(results.read_csv(self.write("b.csv", "a,b\n")), {"a": [], "b": []})

    def test_truncated_line_is_refused(self):
        path = self.write("a.csv", "a,b\n1,2\n3\n")
        self.assertRaisesRegex(ValueError, "a.csv:3", results.read_csv, path)

    def test_experiments_are_found_and_loaded(self):
        self.write("selftests/broken.py", '"""Broken."""\nPARAMS = []\n')
        self.assertEqual(experiment.names(), ["broken", "example"])
        self.assertEqual(experiment.summary(experiment.load("example")), "An example.")
        self.assertRaisesRegex(BadValue, "broken example", experiment.load, "none")
        self.assertRaisesRegex(BadValue, "SMALL", experiment.load, "broken")

    def test_report_is_written_and_reproducible(self):
        run = self.run_directory()
        self.assertTrue(results.Results(run).report())
        self.assertEqual(json.loads(self.read("run/claims.json")),
                         [{"id": "last", "text": "the last time", "value": 9.0, "bar": ">= 8", "holds": True}])
        self.assertIn(b"holds", self.read("run/table.txt"))
        first = self.read("run/times.svg")
        results.Results(run).report()
        self.assertEqual(self.read("run/times.svg"), first)

    def sweep(self, values):
        """Return: runs of a sweep with a run per seed, whose last time is in VALUES."""
        job = {"experiment": "example", "small": False, "params": {"senders": "8", "load": "0.5"}}
        runs = []
        for seed, value in enumerate(values, 1):
            run = self.run_directory("sweep/default/seed-%d" % seed, seed=seed)
            self.write("sweep/default/seed-%d/a/x.csv" % seed, "time_ns\n1\n%d\n" % value)
            results.Results(run).report()
            runs.append(sweep.Run({}, seed, dict(job, seed=seed), ["a"], run))
        return runs

    def test_sweep_is_summarized_over_its_seeds(self):
        runs = self.sweep([9, 10, 11, 10, 9])
        self.assertEqual([run.waiting for run in runs], [[]] * 5)
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertTrue(sweep.summarize(runs, os.path.join(self.directory, "sweep")))
        self.assertRegex(self.read("sweep/table.txt"), rb"(?s)5 seeds.*a +9\.8 \xc2\xb1 1\.0.*holds last: 9\.8 ")
        self.assertRegex(self.read("sweep/claims.csv"),
                         rb"default,last,>= 8,9\.8,.*,holds,.*,1 2 3 4 5,9\.0 10\.0 11\.0 10\.0 9\.0\n")
        self.assertRegex(self.read("sweep/default/table-1.csv"), rb"low,.* high\n(.*\n)*a,.*9\.8,8\.\d+,10\.\d+\n")
        self.assertIn(b"opacity: 0.2", self.read("sweep/default/times.svg"))
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertFalse(sweep.summarize(self.sweep([1, 2, 1, 2, 1]), os.path.join(self.directory, "sweep")))

    def test_table_is_printed_as_in_a_page(self):
        path = self.write("table-1.csv", "case,flows,p99,p99 low,p99 high,KB,p99,p99 low,p99 high\n"
                                         "a,2,2.04,1.5,2.58,3.5,3,3,3\nb,4,-,,,4,4,3.75,4.25\n")
        self.assertEqual(sweep.readable(path, []), (("case", "flows", "p99", "KB", "p99"), [
            ("a", 2, "2.0 ± 0.5", 3.5, "3"), ("b", 4, "-", 4, "4.0 ± 0.2")]))
        self.assertEqual(sweep.readable(path, ["KB", "case"]), (("KB", "case"), [(3.5, "a"), (4, "b")]))
        self.assertEqual(sweep.readable(path, ["p99"])[1], [("2.0 ± 0.5", "3"), ("-", "4.0 ± 0.2")])
        for name in ("us", "p99 low"):
            self.assertRaisesRegex(BadValue, '"%s" .case, flows, p99, KB' % name, sweep.readable, path, [name])

    def test_claim_that_a_seed_lacks_is_open(self):
        claims = [{"id": "a", "text": "", "bar": ">= 1", "value": 2}, {"id": "b", "text": "", "bar": ">= 1", "value": 2}]
        seeds = [mock.Mock(claims=claims[:1])] + [mock.Mock(claims=claims)] * 5
        self.assertEqual({claim["id"]: claim["verdict"] for claim in sweep.judged(seeds)}, {"a": "holds", "b": "open"})

    def test_published_values_are_compared(self):
        claim = {"id": "a", "bar": "<= 2", "mean": 2, "low": 1, "high": 3, "verdict": "fails", "text": "a, b",
                 "values": [1.5, 2.5]}
        row = dict(zip(sweep.CLAIM_COLUMNS, map(str, sweep.claim_row("default", [1, 2], claim))))
        self.assertEqual(published.expected([row], "default", "2"), {"a": (2.5, "<= 2", "fails")})
        self.assertEqual(published.expected([row], "default", "3"), {})
        self.assertEqual(sweep.claim_row("default", [1, 2, 3], claim)[-1], "")
        claims = published.expected([row], "default", "1")
        self.assertEqual(published.compare(claims, {"a": 1.5}), (1, []))
        self.assertEqual(published.compare(claims, {"a": 1.6}), (0, []))
        self.assertEqual(published.compare(claims, {"a": 2.1}), (0, ["a: 2.1, was 1.5 (<= 2)"]))
        self.assertEqual(published.compare(claims, {}), (0, ["a: missing, was 1.5"]))
        self.assertEqual(published.compare({"a": (1.5, "<= 2", "open")}, {"a": 2.1}), (0, []))

    def test_sweep_repeats_incomplete_and_other_runs(self):
        run, other = self.sweep([9, 10])
        os.unlink(os.path.join(run.directory, "claims.json"))
        self.assertFalse(run.complete())
        self.assertTrue(other.complete())
        other.job["params"] = {"senders": "9", "load": "0.5"}
        self.assertFalse(other.complete())
        self.assertEqual(sweep.Run({}, 3, run.job, ["a", "b"], self.directory + "/none").waiting, ["a", "b"])

    def test_sweep_repeats_runs_of_other_cpus(self):
        run, other = self.sweep([9, 10])
        run.job["cpu"] = cpu.costs("3ghz")
        self.assertFalse(run.complete())
        with open(os.path.join(other.directory, "params.json"), encoding="utf-8") as f:
            about = json.load(f)
        self.write("sweep/default/seed-2/params.json", json.dumps({**about, **cpu.job("3ghz")}))
        self.assertFalse(other.complete())

    def test_command_of_a_sweep_has_the_clock_rate(self):
        run = self.sweep([9])[0]
        options = dict(kernel="uml", memory=None, small=False, timeout=1, stall=1)
        self.assertIn(" --cpu 3ghz ", run.command(mock.Mock(cpu="3ghz", **options)))
        self.assertNotIn("--cpu", run.command(mock.Mock(cpu=None, **options)))

    def test_sweep_repeats_runs_of_other_inputs(self):
        made = {"experiment": "1", "library": "2", "programs": {"a": "3"}, "kernel": "4", "modules": {}, "commit": "5"}
        for change, waiting in (({"commit": "6"}, []), ({"modules": {"m.ko": "7"}}, ["a"])):
            with self.subTest(change=change), contextlib.redirect_stderr(io.StringIO()):
                run = self.sweep([9])[0]
                inputs.write(run.directory, made)
                run.renew({**made, **change})
                self.assertEqual(run.waiting, waiting)

    def test_run_that_cannot_be_reported_does_not_end_a_sweep(self):
        run = self.sweep([9])[0]
        os.unlink(os.path.join(run.directory, "claims.json"))
        os.unlink(os.path.join(run.directory, "a", "x.csv"))
        task, run.waiting = mock.Mock(scheme="a"), ["a"]
        todo = sweep.Sweep([run], mock.Mock(kernel="uml"), mock.Mock(), {})
        todo.by_task[task] = run
        with contextlib.redirect_stderr(io.StringIO()):
            todo.done(task)
        self.assertEqual(list(todo.without_report), [task])
        self.assertFalse(run.complete())

    def test_legend_over_a_curve_or_a_bar_is_found(self):
        for draw in (lambda axis, x: axis.plot([x, x], [0, 1], label="curve"),
                     lambda axis, x: axis.bar([x], [2], 0.1, label="bar")):
            run = results.Results(self.run_directory())
            figure, axes = run.figure("legend", 1, 2)
            for axis, x in zip(axes, (0.1, 0.9)):
                draw(axis, x)
                axis.set(xlim=(0, 1), ylim=(0, 1))
                axis.legend(loc="center left")
            self.assertEqual(results.legends_over_data(figure), 1)
            # outside the axes, also where a bar is cut off
            for place in ({"loc": "center left", "bbox_to_anchor": (1.02, 0.5)},
                          {"loc": "lower left", "bbox_to_anchor": (0, 1.1)}):
                axes[0].legend(**place)
                self.assertEqual(results.legends_over_data(figure), 0)
            run.close()

    def test_a_logarithmic_axis_has_plain_numbers(self):
        run = results.Results(self.run_directory())
        figure, axes = run.figure("log")
        axes.plot([1, 2], [1.5, 400])
        results.log_axis(axes.yaxis)
        figure.canvas.draw()
        shown = [tick.get_text() for tick in axes.get_yticklabels()]
        self.assertLessEqual({"2", "5", "10", "200"}, set(shown))
        self.assertEqual(list(axes.yaxis.get_minorticklocs()), [])
        run.close()

    def test_bars_of_a_sweep_have_intervals(self):
        figures = []
        for heights in ((1, 4), (3, 4)):
            run = results.Results(self.run_directory())
            axes = run.figure("bars", 1, 2)[1]
            for axis in axes:
                axis.bar([0, 1], heights)
            run.of_one_run.append(axes[1])
            figures.append(run)
        sweep.draw_bands(figures, self.directory)
        self.assertEqual([[bar.get_height() for bar in axis.patches] for axis in figures[0].figures["bars"].axes],
                         [[2, 4], [1, 4]])
        # half of the interval of 1 and 3 is 12.71
        self.assertGreater(figures[0].figures["bars"].axes[0].get_ylim()[1], 14.71)
        for run in figures:
            run.close()

    def test_horizontal_bars_of_a_sweep_have_intervals(self):
        figures = []
        for widths in ((1, 4), (3, 4)):
            run = results.Results(self.run_directory())
            axis = run.figure("bars")[1]
            axis.barh([0, 1], widths)
            axis.barh([0, 1], [1, 1], left=widths)
            figures.append(run)
        sweep.draw_bands(figures, self.directory)
        axis = figures[0].figures["bars"].axes[0]
        self.assertEqual([(bar.get_x(), bar.get_width()) for bar in axis.patches], [(0, 2), (0, 4), (2, 1), (4, 1)])
        self.assertGreater(axis.get_xlim()[1], 14.71)
        for run in figures:
            run.close()

    def test_failed_claim_is_reported(self):
        run = self.run_directory(params={"senders": "10", "load": "0.5"})
        self.assertFalse(results.Results(run).report())
        self.assertIn(b"FAILS", self.read("run/table.txt"))

    def test_directory_without_results_is_refused(self):
        self.assertRaisesRegex(BadValue, "params.json", results.Results, self.directory)

    def test_clear_removes_only_results(self):
        run = self.run_directory(failed={"b": "stuck"})
        self.write("run/b/x.csv", "time_ns\n")
        self.write("run/notes", "mine")
        runner.clear(run)
        self.assertEqual(os.listdir(run), ["notes"])
        self.assertRaisesRegex(BadValue, "not empty", runner.clear, run)


class Progress(unittest.TestCase):
    @staticmethod
    def guest(scheme, left, total):
        return mock.Mock(left_s=lambda: left, total_s=lambda: total, state=lambda: scheme + " 1 of 2 ms")

    def test_estimate_includes_guests_that_wait(self):
        one, two = self.guest("a", 10, 30), self.guest("b", 20, 30)
        self.assertIsNone(runner.estimate_s([self.guest("a", None, None)], 0, 2))
        self.assertEqual(runner.estimate_s([one, two], 0, 2), 20)
        self.assertEqual(runner.estimate_s([one, two], 1, 2), 40)
        self.assertEqual(runner.estimate_s([one, self.guest("b", None, None)], 0, 2), 30)
        self.assertEqual(runner.estimate_s([one], 3, 1), 100)

    def test_line_begins_with_the_estimate_and_fits_the_terminal(self):
        guests = [self.guest(scheme, 10, 30) for scheme in ("a", "b", "c")]
        self.assertEqual(runner.fit(90, guests[:1], 0, 100), "about 90 s left; a 1 of 2 ms")
        self.assertEqual(runner.fit(None, guests, 2, 43), "estimating; 2 waiting; a 1 of 2 ms; +2")
        for width in range(100):
            self.assertLessEqual(len(runner.fit(90, guests, 2, width)), width)
        self.assertIn("c 1 of 2 ms", runner.fit(90, guests, 2, 100))

    def test_other_schemes_continue_after_a_failure(self):
        done = []
        crew = runner.Crew(["a", "b", "c"], mock.Mock(jobs=1, stall=300), done.append)
        crew.progress = mock.Mock()
        status = {"a": 0, "b": 1, "c": 0}
        crew.start = lambda scheme: mock.Mock(task=scheme, heard=runner.time.monotonic(),
                                              process=mock.Mock(wait=lambda: status[scheme]))
        with mock.patch.object(crew, "admit", crew.guests.append), mock.patch.object(crew, "listen"):
            crew.run()
        self.assertEqual(list(crew.failed), ["b"])
        self.assertEqual(done, ["a", "c"])
        self.assertEqual((crew.guests, crew.waiting), ([], []))


class Guest(unittest.TestCase):
    def failed_traffic(self, modules, status):
        lab = mock.Mock(spec=guest.Lab, modules=modules)
        lab.generator.return_value = []
        with mock.patch.object(guest, "say") as say, \
                mock.patch.object(topo, "program", side_effect=topo.Failed("traffic", status)):
            self.assertRaises(topo.Failed, guest.Lab.traffic, lab, None)
        return say.called

    def test_failed_ndp_flows_get_a_hint_about_memory(self):
        self.assertTrue(self.failed_traffic({"sch_ndp", "ndp"}, 1))
        self.assertFalse(self.failed_traffic({"sch_ndp", "ndp"}, 2))
        self.assertFalse(self.failed_traffic({"tcp_timely"}, 1))

    def begun(self, now):
        """Return: origin of a measurement that begins at NOW, and the calls of sleep_until() and seed()."""
        lab = guest.Lab.__new__(guest.Lab)
        lab.expected, lab.measurements, lab.samplers, lab.histograms, lab.traced = 1, 4, [], [], {}
        with mock.patch.object(guest, "sleep_until") as sleep, mock.patch.object(virtual, "seed") as seed, \
                mock.patch.object(guest.Lab, "report_progress"), mock.patch("time.monotonic_ns", return_value=now):
            lab.begin()
        return lab.origin, sleep.mock_calls, seed.mock_calls

    def test_measurement_and_its_programs_start_at_round_times_and_with_their_seed(self):
        seeded = [mock.call(virtual.PROGRAMS, 5)]
        self.assertEqual(self.begun(123), (10 * 10**9, [mock.call(5 * 10**9)], seeded))
        self.assertEqual(self.begun(5 * 10**9 + 1), (20 * 10**9, [mock.call(15 * 10**9)], seeded))

    def end(self, *reporter):
        """End a measurement whose progress the program REPORTER displays."""
        lab = guest.Lab.__new__(guest.Lab)
        lab.origin, lab.done, lab.children, lab.measuring, lab.tracer = 0, 0, [], [], None
        with subprocess.Popen(reporter) as process:
            lab.reporter = process.pid
            if reporter == ("false",):
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            lab.end()

    def test_measurement_without_display_of_progress_fails(self):
        self.end("sleep", "60")
        self.assertRaisesRegex(RuntimeError, "progress", self.end, "false")

    def test_command_of_the_set_up_starts_at_a_round_time_and_with_its_seed(self):
        with mock.patch.object(virtual, "sleep_until") as sleep, mock.patch.object(virtual, "seed") as seed, \
                mock.patch.object(virtual, "commands", 0), mock.patch("time.monotonic_ns", return_value=2_000_001):
            virtual.next_command()
            virtual.next_command()
        self.assertEqual(sleep.mock_calls, [mock.call(3_000_000)] * 2)
        self.assertEqual(seed.mock_calls, [mock.call(virtual.COMMAND, 1), mock.call(virtual.COMMAND, 2)])

    def test_sleep_until_ends_at_its_time_or_at_once(self):
        when = time.monotonic_ns() + 2_000_000
        virtual.sleep_until(when)
        self.assertGreaterEqual(time.monotonic_ns(), when)
        virtual.sleep_until(when)

    def test_failed_program_ends_the_guest_without_a_traceback(self):
        module = mock.Mock(guest=mock.Mock(side_effect=topo.Failed("traffic", 1)))
        job = {"experiment": "x", "scheme": "a", "seed": 1, "small": False, "params": {}}
        with mock.patch.object(guest, "Lab"), mock.patch.object(experiment, "load", lambda name: module), \
                mock.patch.object(virtual, "start"), self.assertRaises(SystemExit) as end:
            guest.main([json.dumps(job)])
        self.assertEqual(end.exception.code, "lab: traffic: status 1")


class Watchdog(unittest.TestCase):
    def warnings(self, act):
        with mock.patch.object(shell, "say") as say:
            watchdog = shell.Watchdog(0.2)
            watchdog.start("iperf3 -c h1")
            act(watchdog)
            watchdog.stop()
            return say.call_args_list

    def test_program_that_polls_is_named_once(self):
        calls = self.warnings(lambda watchdog: threading.Event().wait(0.8))
        self.assertEqual(len(calls), 1)
        self.assertIn('"iperf3 -c h1"', calls[0][0][0])

    def test_no_warning_while_virtual_time_advances(self):
        def advance(watchdog):
            for _ in range(20):
                threading.Event().wait(0.03)
                watchdog.progress()
        self.assertEqual(self.warnings(advance), [])


class Documented(unittest.TestCase):
    """Documentation/howto/lab.rst lists the pattern keys and the CSV columns of the lab's programs."""

    @classmethod
    def setUpClass(cls):
        with open(os.path.join(experiment.TOP, "Documentation", "howto", "lab.rst"), encoding="utf-8") as f:
            cls.page = f.read()

    def first_column(self, title, section=None):
        """Return: words of the first column of the first table with first title TITLE, after the heading SECTION."""
        text = re.split(r"^%s\n-+\n" % re.escape(section), self.page, flags=re.M)[1] if section else self.page
        rows = re.search(r"^=+  =.*\n%s +.*\n=+  =.*\n((?:(?!==).*\n)*)" % title, text, re.M)[1].splitlines()
        return re.findall(r"``([^`]+)``", " ".join(row.split("  ")[0] for row in rows if not row.startswith(" ")))

    @staticmethod
    def source(*path):
        with open(os.path.join(experiment.TOP, "tools", "lab", *path), encoding="utf-8") as f:
            return f.read()

    def test_pattern_keys_are_documented(self):
        table = self.source("traffic", "pattern.c").split("static const struct word words[] = {")[1].split("\n};")[0]
        keys = re.findall(r'^\t{ "(\w+)"', table, re.M)
        self.assertIn("src", keys)
        self.assertEqual(sorted(self.first_column("key")), sorted(keys))

    def test_patterns_are_documented(self):
        kinds = re.findall(r'\.name = "(\w+)"', self.source("traffic", "kinds.c"))
        self.assertEqual(sorted(self.first_column("pattern")), sorted(kinds))

    def test_csv_columns_are_documented(self):
        records = self.source("traffic", "records.c")
        for section, function in (("flows.csv", "records_flows"), ("series.csv", "records_series_head")):
            body = records.split("void %s(FILE *out)\n{" % function)[1].split("};")[0]
            with self.subTest(section):
                self.assertEqual(self.first_column("column", section), re.findall(r'"(\w+)"', body))
        header = re.search(r'"(time_ns,port,[\w,]+)\\n"', self.source("sampler", "sampler.c"))[1]
        self.assertEqual(self.first_column("column", "queue.csv"), header.split(","))


FORMAT = '''name: timely_sample
ID: 42
format:
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;

print fmt: "src=%pISpc source=%s " "rtt_ns=%llu", REC->src, __print_symbolic(REC->source, { 0, "hw=x" }), REC->rtt_ns
'''
TRACE = '''# tracer: nop
#
# entries-in-buffer/entries-written: 3/3   #P:1
#
           <...>-40      [000]  1000010.000012: timely_sample: src=10.0.0.2:20000 source=hw rtt_ns=5300
           <...>-40      [000]  1000010.000012: timely_rate: rate=-5
           <...>-7       [000]  1000011.500000: timely_sample: src=[fd00::1]:7 source= rtt_ns=0
'''


class QdiscsOfNdp(unittest.TestCase):
    """Qdiscs of NDP's hosts"""

    def hosts(self, scheme, **changed):
        """Return: qdisc lines of a host in ndp-load."""
        load = experiment.load("ndp-load")
        lab = mock.Mock(scheme=scheme, params=params.Values(load.PARAMS, params.texts(load.PARAMS, changed)))
        net = topo.star(2, topo.GBIT, 0)
        with mock.patch.object(net, "build"):
            load.build(lab, net)
        return topo.qdisc_batch(net.nodes["h1"], None)

    def test_first_packet_of_a_socket_waits_in_no_fq(self):
        for scheme in ("ndp", "ndp-srpt", "ndp-bands"):
            self.assertEqual(self.hosts(scheme), ["qdisc replace dev eth0 root prio"])

    def test_hosts_may_have_fq(self):
        self.assertEqual(self.hosts("ndp", host="fq"), ["qdisc replace dev eth0 root fq"])
        self.assertEqual(self.hosts("dctcp"), ["qdisc replace dev eth0 root fq"])


class Traces(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = os.path.join(directory.name, "a.csv")
        self.table = trace.Table(self.path, trace.keys_of(FORMAT))
        self.addCleanup(self.table.out.close)

    def convert(self, text):
        other = mock.Mock()
        trace.convert(text.splitlines(True), {"timely_sample": self.table, "timely_rate": other}, 1000010 * 10**9)
        self.table.out.close()
        return other

    def test_trace_events_become_columns(self):
        other = self.convert(TRACE)
        self.assertEqual(results.read_csv(self.path), {
            "time_ns": [12000, 1500000000], "src": ["10.0.0.2:20000", "[fd00::1]:7"], "source": ["hw", ""],
            "rtt_ns": [5300, 0]})
        other.add.assert_called_once_with(12000, "rate=-5")

    def test_trace_without_events_has_columns(self):
        self.convert("# entries-in-buffer/entries-written: 0/0   #P:1\n")
        self.assertEqual(results.read_csv(self.path), {"time_ns": [], "src": [], "source": [], "rtt_ns": []})

    def test_lost_events_are_refused(self):
        self.assertRaisesRegex(RuntimeError, "3 of 9 events are left", self.convert, TRACE.replace("3/3", "3/9"))

    def test_unexpected_fields_are_refused(self):
        for old, new in (("source=hw ", ""), ("source=hw", "source=h,w"), ("=5300", "=5300 more")):
            with self.subTest(new):
                self.assertRaisesRegex(RuntimeError, "unexpected output", self.convert, TRACE.replace(old, new))
        self.assertRaisesRegex(RuntimeError, "no KEY=VALUE", trace.keys_of, 'print fmt: "%d", REC->a\n')


def shapes():
    return {"star": topo.star(300, topo.GBIT, 1000), "dumbbell": topo.dumbbell(8, topo.GBIT, 1, 2 * topo.GBIT, 3),
            "parking_lot": topo.parking_lot(10, topo.GBIT, 1000),
            "leaf_spine": topo.leaf_spine(4, 2, 8, topo.GBIT, 1000, uplink=4 * topo.GBIT),
            "two_pods": topo.two_pods(5, topo.GBIT, 1000), "fat_tree": topo.fat_tree(8, topo.GBIT, 1000)}


class CpuCosts(unittest.TestCase):
    COSTS = {"tcp": {"cpu_packet": 3, "cpu_kb": 2}, "ndp": {"cpu_packet": 7, "cpu_kb": 5}}

    def bench(self, packet, byte, frame):
        """Return: what the benchmark would count if packets, bytes and frames cost these instructions."""
        found = {}
        for mtu in (1500, 9000):
            data = mtu - 52
            segments = 65215 // data
            found[("TCP", mtu, 1)] = 1.5 * packet + data * byte
            found[("TCP, TSO, never cut", mtu, 1)] = (2 * packet + segments * data * byte) / segments
            found[("TCP, GSO and GRO", mtu, 1)] = found[("TCP, TSO, never cut", mtu, 1)] + frame
            found[("NDP", mtu, 1)] = 17 / 16 * packet + (mtu - 84) * byte
        return found

    def test_costs_of_the_benchmark_are_found_again_and_halved(self):
        for protocol, frame in (("tcp", 500), ("ndp", 0)):
            found = cpu.instructions(self.bench(9000, 0.5, 1000), protocol)
            for option, expected in (("cpu_packet", 4500), ("cpu_frame", frame), ("cpu_kb", 256)):
                self.assertAlmostEqual(found[option], expected, msg=protocol + " " + option)

    def test_published_benchmark_fits_the_model(self):
        for protocol in ("tcp", "ndp"):
            rows = cpu.equations(cpu.read(), protocol)
            self.assertGreaterEqual(len(rows), 4)
            packet, byte = cpu.fit(rows)
            for packets, size, cost in rows:
                self.assertLess(abs(packet * packets + byte * size - cost) / cost, 0.15)

    def test_costs_are_inverse_to_the_clock_rate(self):
        slow, fast = cpu.costs("1ghz"), cpu.costs("2.5ghz")
        for protocol, options in slow.items():
            for option, ns in options.items():
                self.assertLessEqual(abs(ns / 2.5 - fast[protocol][option]), 1)

    def test_bad_clock_rates_are_refused(self):
        for text in ("3", "3GHz", "ghz", "-3ghz", "0ghz", "0.01ghz", "101ghz", "3ghz 4"):
            with self.subTest(text=text):
                self.assertRaises(BadValue, cpu.costs, text)

    def test_hosts_have_costs_and_switches_none(self):
        net = topo.star(1, topo.GBIT, 7)
        with mock.patch.object(topo, "cpu_costs", self.COSTS):
            line = net.links_batch()[-1]
            self.assertIn("delay 7ns cpu_packet 3ns cpu_kb 2ns peer name h1", line)
            self.assertTrue(line.endswith("delay 7ns cpu_packet 0ns cpu_kb 0ns"))
            with mock.patch("os.path.isdir", lambda path: path == "/sys/module/ndp"):
                self.assertIn("delay 7ns cpu_packet 7ns cpu_kb 5ns peer name h1", net.links_batch()[-1])
            self.assertNotIn("cpu_packet 3ns", net.rdma("rxe").links_batch()[-1])
        self.assertNotIn("cpu", net.links_batch()[-1])

    def test_a_job_without_the_option_is_as_before(self):
        self.assertEqual(cpu.job(None), {})
        self.assertEqual(cpu.job("3ghz"), {"cpu": cpu.costs("3ghz")})


class Topologies(unittest.TestCase):
    def test_topologies_have_the_right_sizes(self):
        sizes = {name: (len(net.hosts()), len(net.switches()), len(net.links)) for name, net in shapes().items()}
        self.assertEqual(sizes, {"star": (300, 1, 300), "dumbbell": (16, 2, 17), "parking_lot": (11, 10, 20),
                                 "leaf_spine": (32, 6, 40), "two_pods": (20, 10, 36), "fat_tree": (128, 80, 384)})

    def test_addresses_and_names_are_unique(self):
        for name, net in shapes().items():
            with self.subTest(name):
                addresses = [ipaddress.ip_address(n.address) for n in net.nodes.values()]
                macs = [p.mac for p in net.host_ports() + net.switch_ports()]
                self.assertEqual(len(set(addresses)), len(addresses))
                self.assertEqual(len(set(macs)), len(macs))
                self.assertLessEqual(max(len(p.dev) for p in net.switch_ports()), 15)

    def follow(self, net, a, b):
        """Return: names of the nodes on the route from A to B; uses the first of several next hops."""
        node, path = a, [a.name]
        while node is not b and len(path) < 20:
            fits = [(ipaddress.ip_network(prefix).prefixlen, neighbours) for prefix, neighbours in node.routes
                    if ipaddress.ip_address(b.address) in ipaddress.ip_network(prefix)]
            node = node.port(max(fits)[1][0]).peer.node
            path.append(node.name)
        return path

    def test_routes_are_shortest_paths(self):
        for name, net in shapes().items():
            hosts = net.hosts()
            for a, b in ((hosts[0], hosts[-1]), (hosts[-1], hosts[0]), (hosts[0], hosts[1]), (hosts[1], hosts[9])):
                with self.subTest(name, a=a.name, b=b.name):
                    path = self.follow(net, a, b)
                    self.assertEqual(path[-1], b.name)
                    self.assertEqual(len(path), len(net.path(a, b)) + 1)

    def test_fat_tree_matches_the_paper(self):
        net = topo.fat_tree(4, topo.GBIT, 0)
        self.assertEqual(net.nodes["h1"].address, "10.0.0.2")
        self.assertEqual(net.nodes["a0-0"].address, "10.0.2.1")
        self.assertEqual(net.nodes["c1-1"].address, "10.4.2.2")
        self.assertEqual(len(net.nodes["e0-0"].routes[-1][1]), 2)
        self.assertEqual({p: [port.node.name for port in ports][1:] for p, ports in net.paths().items()},
                         {"same-leaf": ["e0-0"], "same-pod": ["e0-0", "a0-0", "e0-1"],
                          "far": ["e0-0", "a0-0", "c0-0", "a1-0", "e1-0"]})

    def test_two_pods_match_the_paper(self):
        net = topo.two_pods(5, topo.GBIT, 0)
        self.assertEqual([port.node.name for port in net.path(net.nodes["h11"], net.nodes["h41"])],
                         ["h11", "t1", "l1", "s1", "l3", "t4"])
        self.assertEqual([port.node.name for port in net.path(net.nodes["h15"], net.nodes["h21"])],
                         ["h15", "t1", "l1", "t2"])
        self.assertEqual([net.nodes[name].routes[-1][1] for name in ("t4", "l1", "s2")],
                         [["l3", "l4"], ["s1", "s2"], ["l3", "l4"]])

    def test_hosts_file_lists_hosts_and_paths(self):
        with tempfile.NamedTemporaryFile("r") as f:
            shapes()["dumbbell"].write_hosts(f.name)
            lines = f.read().splitlines()
        self.assertEqual(lines[0], "mtu 1500")
        self.assertIn("host s1 s1 10.0.0.2 0 0", lines)
        self.assertIn("host r8 r8 10.0.1.9 1 0", lines)
        self.assertIn("path same-pod 1000000000:1 2000000000:3 1000000000:1", lines)

    def test_port_may_have_its_own_qdisc(self):
        net = topo.star(2, topo.GBIT, 0)
        net.nodes["switch"].port("h1").qdisc = ["root handle 1: prio", "filter parent 1: matchall", "parent 1:1 pfifo"]
        self.assertEqual(topo.qdisc_batch(net.nodes["switch"], "red limit 1"),
                         ["qdisc replace dev h1 root handle 1: prio", "filter add dev h1 parent 1: matchall",
                          "qdisc replace dev h1 parent 1:1 pfifo",
                          "qdisc replace dev h2 root red limit 1"])

    def test_first_of_strict_bands_has_the_highest_precedence(self):
        self.assertEqual(ndp.strict(2, "fq"), [
            "root handle 1: prio bands 2 priomap" + " 0" * 16,
            "filter parent 1: protocol ip flower ip_tos 0x00/0xe0 classid 1:2", "parent 1:1 fq",
            "filter parent 1: protocol ip flower ip_tos 0x20/0xe0 classid 1:1", "parent 1:2 fq"])

    def test_port_may_have_shorter_gso_packets(self):
        net = topo.star(1, topo.GBIT, 0)
        net.nodes["h1"].port("switch").gso = 9000
        self.assertIn("link set eth0 gso_max_size 9000", topo.node_batch(net.nodes["h1"]))
        self.assertFalse([line for line in topo.node_batch(net.nodes["switch"]) if "gso" in line])

    def test_ports_of_a_link_may_differ(self):
        net = topo.star(1, topo.GBIT, 7)
        net.nodes["switch"].port("h1").rate = 5
        self.assertIn("type closwire rate 1000000000bit delay 7ns peer name h1", net.links_batch()[-1])
        net.nodes["h1"].port("switch").clock_drift = -20000
        net.nodes["h1"].port("switch").clock_offset = 37 * 10**9
        self.assertIn("rate 1000000000bit delay 7ns clock_offset 37000000000ns clock_drift -20000 peer name h1",
                      net.links_batch()[-1])
        self.assertTrue(net.links_batch()[-1].endswith("netns switch type closwire rate 5bit delay 7ns"))


if __name__ == "__main__":
    unittest.main()
