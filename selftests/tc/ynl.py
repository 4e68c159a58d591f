#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The YNL specification of sch_ndp, Documentation/netlink/tc-ndp.yaml.

ynl.py merge TC_YAML [FRAGMENT]  print the kernel's tc.yaml with ours in it
ynl.py check [FRAGMENT]          does ours say what the uAPI header says?
"""
import re
import sys
from pathlib import Path

import yaml

TOP = Path(__file__).parents[2]
HEADER = TOP / "include/uapi/linux/pkt_sched_ndp.h"
FRAGMENT = TOP / "Documentation/netlink/tc-ndp.yaml"


def by_name(items):
    """A list of named things as a dictionary"""
    return {item["name"]: item for item in items}


def merge(base_path, fragment):
    """tc.yaml with the fragment's lists appended to its own"""
    text = Path(base_path).read_text(encoding="utf-8")
    base = yaml.safe_load(text)
    base["definitions"] += fragment["definitions"]
    base["attribute-sets"] += fragment["attribute-sets"]
    messages = by_name(base["sub-messages"])
    for message in fragment["sub-messages"]:
        # Linux before 6.16 calls options-msg tc-options-msg
        name = message["name"]
        target = messages[name if name in messages else "tc-" + name]
        target["formats"] += message["formats"]
    licence = text.splitlines()[0]
    return licence + "\n" + yaml.safe_dump(base, sort_keys=False)


def c_enum(text, prefix):
    """Constants of the enum whose first one starts with the prefix, in YNL's spelling"""
    body = re.search(r"enum[^{}]*\{\s*(" + prefix + r"[^}]*)\}", text).group(1)
    return [n.lower().replace("_", "-") for n in re.findall(r"\b" + prefix + r"(\w+),", body)]


def c_struct(text, name):
    """Members of a struct, in YNL's spelling: (name, type)"""
    body = re.search(r"struct " + name + r" \{([^}]*)\}", text).group(1)
    members = re.findall(r"(?:struct )?(\w+) (\w+);", body)
    return [(n.replace("_", "-"), t.strip("_").replace("_", "-")) for t, n in members]


def ynl_struct(definition):
    """The same of a definition"""
    return [(m["name"], m.get("struct", m["type"])) for m in definition["members"]]


def differences(fragment):
    """Pairs (what, header, YNL) that are not equal"""
    text = HEADER.read_text(encoding="utf-8")
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    definitions = by_name(fragment["definitions"])
    attributes = by_name(fragment["attribute-sets"])["tc-ndp-attrs"]["attributes"]
    widths = dict(re.findall(r"@TCA_NDP_(\w+): (u\d+)", text))
    pairs = [
        ("attributes", c_enum(bare, "TCA_NDP_"), ["unspec"] + [a["name"] for a in attributes]),
        ("types", {k.lower().replace("_", "-"): v for k, v in widths.items()},
         {a["name"]: a["type"] for a in attributes if a["type"] != "pad"}),
    ]
    for name in "mode", "match":
        pairs.append((name, c_enum(bare, f"TC_NDP_{name.upper()}_"),
                      definitions[f"tc-ndp-{name}"]["entries"]))
    for name in "tc_ndp_queue_xstats", "tc_ndp_xstats":
        pairs.append((name, c_struct(bare, name),
                      ynl_struct(definitions[name.replace("_", "-")])))
    return [p for p in pairs if p[1] != p[2]]


def main():
    """Command line"""
    words = sys.argv[1:]
    if not words or words[0] not in ("merge", "check"):
        sys.exit(__doc__)
    command = words.pop(0)
    base = words.pop(0) if command == "merge" else None
    path = Path(words[0]) if words else FRAGMENT
    fragment = yaml.safe_load(path.read_text(encoding="utf-8"))
    if base:
        print(merge(base, fragment), end="")
        return
    wrong = differences(fragment)
    for what, header, spec in wrong:
        print(f"{what} differ:\nheader: {header}\nYNL:    {spec}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
