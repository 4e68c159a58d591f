#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The YNL specifications of our qdiscs, Documentation/netlink/tc-*.yaml.

ynl.py merge TC_YAML [FRAGMENT...]  print the kernel's tc.yaml with ours in it
ynl.py check [FRAGMENT...]          does each say what its uAPI header says?
"""
import re
import sys
from pathlib import Path

import yaml

TOP = Path(__file__).parents[2]
UAPI = TOP / "include/uapi/linux"
FRAGMENTS = sorted((TOP / "Documentation/netlink").glob("tc-*.yaml"))
# what the header says of an attribute that is no number
TYPES = {"64 times u8": "binary"}


def by_name(items):
    """A list of named things as a dictionary"""
    return {item["name"]: item for item in items}


def merge(base_path, fragments):
    """tc.yaml with the fragments' lists appended to its own"""
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
    """A name of C in YNL's spelling"""
    return name.lower().replace("_", "-")


def c_enum(text, prefix, first=""):
    """Constants of the enum whose first one is prefix + first..., in YNL's spelling"""
    body = re.search(r"enum[^{}]*\{\s*(" + prefix + first + r"[^}]*)\}", text).group(1)
    return [spelled(n) for n in re.findall(r"\b" + prefix + r"(\w+),", body)]


def c_struct(text, name):
    """Members of a struct, in YNL's spelling: (name, type); those of an array one by one"""
    body = re.search(r"struct " + name + r" \{([^}]*)\}", text).group(1)
    members = []
    for kind, member, size in re.findall(r"(?:struct )?(\w+) (\w+)(?:\[(\w+)\])?;", body):
        names = [member]
        if size:
            count = re.search(rf"#define {size}\s+(\d+)", text).group(1)
            names = [f"{member}{i}" for i in range(int(count))]
        members += [(spelled(n), spelled(kind.strip("_"))) for n in names]
    return members


def ynl_struct(definition):
    """The same of a definition"""
    return [(m["name"], m.get("struct", m["type"])) for m in definition["members"]]


def attribute_pairs(text, attribute_set):
    """Pairs (what, header, YNL) of a set, tc-KIND-attrs or tc-KIND-NEST-attrs"""
    name = attribute_set["name"].removesuffix("-attrs").removeprefix("tc-")
    prefix = f"TCA_{name.upper().replace('-', '_')}_"
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    constants = c_enum(bare, prefix, "UNSPEC")
    attributes = attribute_set["attributes"]
    types = {spelled(n): TYPES.get(t, t) for n, t in
             re.findall(rf"@{prefix}(\w+): (u\d+|nest|string|64 times u8)", text)}
    return [
        (f"{name} attributes", constants, ["unspec"] + [a["name"] for a in attributes]),
        (f"{name} types", {n: t for n, t in types.items() if n in constants},
         {a["name"]: a["type"] for a in attributes if a["type"] != "pad"}),
    ]


def differences(fragment):
    """Pairs (what, header, YNL) that are not equal"""
    kind = fragment["sub-messages"][0]["formats"][0]["value"]
    text = (UAPI / f"pkt_sched_{kind}.h").read_text(encoding="utf-8")
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    pairs = []
    for attribute_set in fragment["attribute-sets"]:
        pairs += attribute_pairs(text, attribute_set)
    for definition in fragment["definitions"]:
        name = definition["name"].replace("-", "_")
        if definition["type"] == "enum":
            pairs.append((name, c_enum(bare, f"{name.upper()}_"), definition["entries"]))
        else:
            pairs.append((name, c_struct(bare, name), ynl_struct(definition)))
    return [p for p in pairs if p[1] != p[2]]


def main():
    """Command line"""
    words = sys.argv[1:]
    if not words or words[0] not in ("merge", "check"):
        sys.exit(__doc__)
    command = words.pop(0)
    base = words.pop(0) if command == "merge" else None
    paths = words or FRAGMENTS
    fragments = [yaml.safe_load(Path(p).read_text(encoding="utf-8")) for p in paths]
    if base:
        print(merge(base, fragments), end="")
        return
    wrong = [d for f in fragments for d in differences(f)]
    for what, header, spec in wrong:
        print(f"{what} differ:\nheader: {header}\nYNL:    {spec}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
