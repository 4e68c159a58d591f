# SPDX-License-Identifier: GPL-2.0-only
"""Experiments: the Python files in tools/lab/experiments. Documentation/howto/lab.rst explains how to write one."""
import importlib.util
import os
import sys

from closlab.params import BadValue, texts

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "closnet")
DIRECTORY = os.path.join(TOP, "tools", "lab", "experiments")
NEEDED = ("PARAMS", "SMALL", "SCHEMES", "guest", "report")


def names():
    """Return: names of all experiments, sorted."""
    found = []
    for entry in sorted(os.listdir(DIRECTORY)):
        if entry.endswith(".py"):
            found.append(entry[:-3].replace("_", "-"))
    return found


def path_of(name):
    """Return: the experiment's file. A NAME with a / is a file."""
    if "/" in name:
        if not os.path.isfile(name):
            raise BadValue("no such file: %s" % name)
        return os.path.abspath(name)
    if name not in names():
        raise BadValue('unknown experiment "%s" (%s)' % (name, " ".join(names())))
    return os.path.join(DIRECTORY, name.replace("-", "_") + ".py")


def load(name):
    """Import an experiment. BadValue if it is incomplete."""
    path = path_of(name)
    spec = importlib.util.spec_from_file_location("experiment", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["experiment"] = module
    spec.loader.exec_module(module)
    for need in NEEDED:
        if not hasattr(module, need):
            raise BadValue("%s: missing %s" % (path, need))
    if not module.__doc__:
        raise BadValue("%s: missing docstring" % path)
    texts(module.PARAMS, module.SMALL)
    return module


def summary(module):
    """Return: the first line of the experiment's docstring."""
    return module.__doc__.strip().splitlines()[0]
