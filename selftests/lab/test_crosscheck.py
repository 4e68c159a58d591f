#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Unit tests of tools/lab/crosscheck/compare. No guest, no root, no ns-3."""
import importlib.machinery
import importlib.util
import os
import random
import subprocess
import tempfile
import types
import unittest
from unittest import mock

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(TOP, "tools", "lab", "crosscheck", "compare")
LOADER = importlib.machinery.SourceFileLoader("compare", PROGRAM)
compare = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", LOADER))
with mock.patch("sys.dont_write_bytecode", True):
    LOADER.exec_module(compare)
from closlab import experiment  # noqa: E402
from closlab.params import Values, texts  # noqa: E402


class CrossCheck(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.module = experiment.load("crosscheck")
        self.params = Values(self.module.PARAMS, texts(self.module.PARAMS, {}))

    def test_missing_ns3_is_named(self):
        with tempfile.TemporaryDirectory() as empty, \
                mock.patch.dict(os.environ, {"MAKEFLAGS": "NS3=%s O=%s" % (empty, empty)}), \
                self.assertRaisesRegex(compare.Broken, "ns-3 is missing: run tools/deps.sh ns3"):
            compare.build()

    def test_missing_results_of_the_lab_are_named(self):
        result = subprocess.run([PROGRAM, "--sweep", self.directory, "--out", self.directory], capture_output=True,
                                text=True, check=False)
        self.assertEqual(result.returncode, 125)
        self.assertRegex(result.stderr, "^compare: no results of the lab in .*: run tools/lab/lab sweep crosscheck")

    def options(self, scheme):
        return compare.options_of(self.params, scheme, self.module.cases(self.params, scheme)[-1], 3, "1:2")

    def test_ns3_gets_the_parameters_of_the_experiment(self):
        found = self.options("dumbbell-dctcp")
        self.assertEqual((found["delay"], found["buffer"], found["k"], found["flows"], found["seed"]),
                         (16000, 462, 65, 32, 3))
        found = self.options("incast-cubic")
        self.assertEqual((found["cc"], found["delay"], found["buffer"], found["bytes"], found["rounds"]),
                         ("cubic", 5000, 200, 1000000, 5))
        found = self.options("permutation-dctcp")
        self.assertEqual((found["flows"], found["pairs"], found["seed"], found["time"]), (16, "1:2", 3001, 20000000))

    def test_permutation_is_the_one_of_the_lab(self):
        os.mkdir(os.path.join(self.directory, "permutation-dctcp"))
        with open(os.path.join(self.directory, "permutation-dctcp", "flows-p0.csv"), "w", encoding="ascii") as f:
            f.write("flow,src,dst\n0,h1,h16\n1,h2,h3\n")
        self.assertEqual(compare.pairs_of(self.directory, "permutation-dctcp", "p0"), "1:16,2:3")
        self.assertEqual(compare.pairs_of(self.directory, "incast-cubic", "n8"), "")

    def test_finished_case_is_kept(self):
        with open(os.path.join(self.directory, "flows-n2.csv"), "w", encoding="ascii"), \
                open(os.path.join(self.directory, "ns3"), "w", encoding="ascii"), \
                mock.patch.object(compare, "PROGRAM", os.path.join(self.directory, "ns3")), \
                mock.patch("subprocess.run", return_value=types.SimpleNamespace(returncode=0)) as run:
            os.utime(compare.PROGRAM, (1, 1))
            compare.run_ns3({"name": "n2"}, self.directory)
            run.assert_not_called()
            compare.run_ns3({"name": "n8"}, self.directory)
            run.assert_called_once()

    def test_table_has_means_and_intervals_of_each_simulator(self):
        found = {("dumbbell-dctcp", "n2", "goodput"): {"lab": [1, 2, 3], "ns3": [2, 2, 2]}}
        lines = compare.write(found, self.directory)
        self.assertRegex(lines[1], r"dumbbell-dctcp +n2 +goodput +2 \[-0.\d+, 4.\d+\] +- +2 \[2, 2\] +-")
        with open(os.path.join(self.directory, "crosscheck.csv"), encoding="utf-8") as f:
            self.assertIn("dumbbell-dctcp,n2,goodput,ns3,3,2,2,2\n", f.readlines())

    def test_max_min_fairness_serves_the_worst_link_first(self):
        self.assertEqual(compare.max_min([["a"], ["a", "b"], ["b"]]), [0.5, 0.5, 0.5])
        self.assertEqual(compare.max_min([["a"], ["a", "b"], ["b"], ["b"], ["b"]]), [0.75, 0.25, 0.25, 0.25, 0.25])

    def test_path_of_a_fat_tree_leaves_the_edge_and_the_pod_only_if_needed(self):
        draw = random.Random(1)
        self.assertEqual([len(compare.path(4, 0, dst, draw)) for dst in (1, 2, 4)], [2, 4, 6])

    def test_speed_compares_the_same_dumbbell(self):
        commands = compare.speed_commands(self.module, 40, self.directory)
        self.assertIn("dumbbell_time=40ms", commands["lab"])
        self.assertIn("--time=40000000", commands["ns3"])
        self.assertIn("--flows=8", commands["ns3"])


if __name__ == "__main__":
    unittest.main()
