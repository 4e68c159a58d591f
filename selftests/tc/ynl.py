#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The YNL specifications in Documentation/netlink: tc-*.yaml of closnet's qdiscs, which are fragments of the kernel's
tc.yaml, and closnet_*.yaml of closnet's generic netlink families.

ynl.py merge TC_YAML [FRAGMENT...]  print the kernel's tc.yaml merged with the fragments
ynl.py check [FILE...]              check that each specification agrees with its uapi header
"""
import re
import sys
from pathlib import Path

import yaml

TOP = Path(__file__).parents[2]
UAPI = TOP / "include/uapi/linux"
FRAGMENTS = sorted((TOP / "Documentation/netlink").glob("tc-*.yaml"))
FAMILIES = sorted((TOP / "Documentation/netlink").glob("closnet_*.yaml"))


def by_name(items):
    """Return: a list of named items as a dictionary"""
    return {item["name"]: item for item in items}


def merge(base_path, fragments):
    """Return: tc.yaml with the fragments' lists appended"""
    text = Path(base_path).read_text(encoding="utf-8")
    base = yaml.safe_load(text)
    messages = by_name(base["sub-messages"])
    for fragment in fragments:
        base["definitions"] += fragment["definitions"]
        base["attribute-sets"] += fragment["attribute-sets"]
        for message in fragment["sub-messages"]:
            # Linux before 6.16 calls options-msg tc-options-msg
            name = message["name"]
            target = messages[name if name in messages else "tc-" + name]
            target["formats"] += message["formats"]
    licence = text.splitlines()[0]
    return licence + "\n" + yaml.safe_dump(base, sort_keys=False)


def spelled(name):
    """Return: a C name in YNL's spelling"""
    return name.lower().replace("_", "-")


def c_enum(text, prefix, first=""):
    """Return: in YNL's spelling, the constants of the enum that begins with prefix + first..."""
    body = re.search(r"enum[^{}]*\{\s*(" + prefix + first + r"[^}]*)\}", text).group(1)
    return [spelled(n) for n in re.findall(r"\b" + prefix + r"(\w+),", body)]


def c_number(text, size):
    """Return: the value of NAME or NAME - NUMBER"""
    name, _, less = size.partition(" - ")
    return int(re.search(rf"#define {name}\s+(\d+)", text).group(1)) - int(less or 0)


def c_struct(text, name):
    """Return: (name, type) of a struct's members in YNL's spelling, each element of an array by itself"""
    body = re.search(r"struct " + name + r" \{([^}]*)\}", text).group(1)
    members = []
    for kind, member, size in re.findall(r"(?:struct )?(\w+) (\w+)(?:\[([^\]]+)\])?;", body):
        names = [member]
        if size:
            names = [f"{member}{i}" for i in range(c_number(text, size))]
        members += [(spelled(n), spelled(kind.strip("_"))) for n in names]
    return members


def ynl_struct(definition):
    """Return: (name, type) of the members in a definition"""
    return [(m["name"], m.get("struct", m["type"])) for m in definition["members"]]


def header_type(text):
    """Return: the YNL type of an attribute with this documentation; an array is binary"""
    return "binary" if " times " in text else text


def attribute_pairs(text, attribute_set):
    """Return: (name, header, YNL) for a set, tc-KIND-attrs or tc-KIND-NEST-attrs, or a family"""
    name = attribute_set["name"].removesuffix("-attrs").removeprefix("tc-")
    prefix = attribute_set.get("name-prefix", f"tca-{name}-").upper().replace("-", "_")
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    constants = c_enum(bare, prefix, "UNSPEC")
    attributes = attribute_set["attributes"]
    types = {spelled(n): header_type(t) for n, t in
             re.findall(rf"@{prefix}(\w+): (u\d+|nest|string|\d+ times u\d+)", text)}
    return [
        (f"{name} attributes", constants, ["unspec"] + [a["name"] for a in attributes]),
        (f"{name} types", {n: t for n, t in types.items() if n in constants},
         {a["name"]: a["type"] for a in attributes if a["type"] != "pad"}),
    ]


def header_of(spec):
    """Return: path of a specification's uapi header"""
    if "uapi-header" in spec:
        return UAPI.parent / spec["uapi-header"]
    kind = spec["sub-messages"][0]["formats"][0]["value"]
    return UAPI / f"pkt_sched_{kind}.h"


def command_pairs(bare, spec):
    """Return: (name, header, YNL) for name and commands of a generic netlink family"""
    if "operations" not in spec:
        return []
    operations = spec["operations"]
    prefix = operations["name-prefix"].upper().replace("-", "_")
    name = re.search(r'#define \w+_GENL_NAME\s+"(\w+)"', bare).group(1)
    return [
        ("name", name, spec["name"]),
        ("commands", c_enum(bare, prefix, "UNSPEC"),
         ["unspec"] + [o["name"] for o in operations["list"]]),
    ]


def differences(spec):
    """Return: (name, header, YNL) wherever header and YNL differ"""
    text = header_of(spec).read_text(encoding="utf-8")
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    pairs = command_pairs(bare, spec)
    for attribute_set in spec["attribute-sets"]:
        pairs += attribute_pairs(text, attribute_set)
    for definition in spec["definitions"]:
        name = definition["name"].replace("-", "_")
        if definition["type"] == "const":
            pairs.append((name, c_number(bare, name.upper()), definition["value"]))
        elif definition["type"] == "enum":
            pairs.append((name, c_enum(bare, f"{name.upper()}_"), definition["entries"]))
        else:
            pairs.append((name, c_struct(bare, name), ynl_struct(definition)))
    return [p for p in pairs if p[1] != p[2]]


def main():
    """Parse the command line and run the command"""
    words = sys.argv[1:]
    if not words or words[0] not in ("merge", "check"):
        sys.exit(__doc__)
    command = words.pop(0)
    base = words.pop(0) if command == "merge" else None
    paths = words or (FRAGMENTS if base else FRAGMENTS + FAMILIES)
    specs = [yaml.safe_load(Path(p).read_text(encoding="utf-8")) for p in paths]
    if base:
        print(merge(base, specs), end="")
        return
    wrong = [d for s in specs for d in differences(s)]
    for name, header, spec in wrong:
        print(f"{name} differ:\nheader: {header}\nYNL:    {spec}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
