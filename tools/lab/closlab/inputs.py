# SPDX-License-Identifier: GPL-2.0-only
"""What a run was made from, for a comparison with another machine: inputs.json; digests of its results: SHA256SUMS."""
import glob
import hashlib
import json
import os
import re
import subprocess

from closlab import experiment

FILES = ("inputs.json", "SHA256SUMS")
PROGRAMS = ("traffic", "sampler")
PACKAGES = ("iproute2", "libc6", "linux-source-6.12", "gcc-12", "python3")


def digest(*paths):
    """Return: SHA-256 of the contents of the files, in this order."""
    found = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as f:
            found.update(f.read())
    return found.hexdigest()


def output(*command):
    """Return: the command's output, "" if it fails."""
    return subprocess.run(command, cwd=experiment.TOP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout.strip()


def versions():
    """Return: {package: version} of the host's packages, as far as dpkg knows them."""
    lines = output("dpkg-query", "-W", "-f", "${Package} ${Version}\n", *PACKAGES).splitlines()
    return dict(line.split(" ", 1) for line in lines if " " in line)


def describe(name, kernel, modules):
    """Return: digests and versions of the inputs of experiment NAME, with KERNEL and the modules in MODULES."""
    lab = os.path.join(experiment.TOP, "tools", "lab")
    vmlinux = re.search(r"^vmlinux=(\S+)", output("tools/vm/kernel", kernel), re.MULTILINE)[1]
    return {
        "commit": output("git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"),
        "experiment": digest(experiment.path_of(name)),
        "library": digest(*sorted(glob.glob(os.path.join(lab, "closlab", "*.py")))),
        "programs": {program: digest(os.path.join(experiment.TOP, "build", "lab", program)) for program in PROGRAMS},
        "kernel": digest(vmlinux),
        "modules": {os.path.basename(path): digest(path) for path in sorted(glob.glob(os.path.join(modules, "*.ko")))},
        "packages": versions(),
    }


def same(directory, described):
    """Return: True if inputs.json has the digests of DESCRIBED; commits and packages may differ."""
    try:
        with open(os.path.join(directory, FILES[0]), encoding="utf-8") as f:
            found = json.load(f)
    except FileNotFoundError:
        return False
    return all(found.get(key) == described[key] for key in ("experiment", "library", "programs", "kernel", "modules"))


def write(directory, described):
    """Write inputs.json, as describe() returns it."""
    with open(os.path.join(directory, FILES[0]), "w", encoding="utf-8") as f:
        json.dump(described, f, indent=1)
        f.write("\n")


def write_digests(directory, schemes):
    """Write the digests of all files of the SCHEMES to DIRECTORY, in the format of sha256sum(1)."""
    with open(os.path.join(directory, FILES[1]), "w", encoding="utf-8") as f:
        for scheme in schemes:
            for path in sorted(glob.glob(os.path.join(directory, glob.escape(scheme), "**"), recursive=True)):
                if os.path.isfile(path):
                    f.write("%s  %s\n" % (digest(path), os.path.relpath(path, directory)))
