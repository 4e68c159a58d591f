# SPDX-License-Identifier: GPL-2.0-only
"""Write the uAPI header of a specification."""
from pathlib import Path

from .spec import MARK, lower, upper
from .text import blurb, described


def kernel_doc(head, doc, members):
    """Comment: HEAD - first paragraph, the members, then the other paragraphs."""
    first, *rest = doc.strip().split("\n\n")
    out = ["/**", described(head + " -", first)]
    out += [described(f"@{name}:", text) for name, text in members]
    if rest:
        out += [" *", blurb("\n\n".join(rest))]
    return out + [" */"]


def values(spec, enum):
    """An enum of values."""
    prefix, name = spec.enum_prefix(enum), lower(enum["name"])
    out = kernel_doc(f"enum {name}", enum["doc"], [(prefix + upper(e["name"]), e["doc"]) for e in enum["entries"]])
    out += [f"enum {name} {{"] + [f"\t{prefix}{upper(e['name'])}," for e in enum["entries"]]
    return out + ["\t/* private: */", f"\t__{prefix}MAX,", "};", "", f"#define {prefix}MAX\t(__{prefix}MAX - 1)", ""]


def structure(definition):
    """A structure."""
    name, members = lower(definition["name"]), definition["members"]
    out = kernel_doc(f"struct {name}", definition["doc"], [(lower(m["name"]), m["doc"]) for m in members])
    return out + [f"struct {name} {{"] + [f"\t__{m['type']} {lower(m['name'])};" for m in members] + ["};", ""]


def meaning(group, attribute):
    """Type and meaning of an attribute."""
    kind = attribute["type"]
    if "struct" in attribute:
        kind = f"struct {lower(attribute['struct'])}"
    if kind == "nest":
        inner = next(g for g in group.spec.sets if g.set["name"] == attribute["nested-attributes"])
        kind = f"nest, {inner.prefix}*"
    enum = f"enum {lower(attribute['enum'])}" if "enum" in attribute else ""
    return ", ".join(t for t in (kind, enum, attribute.get("doc", "").strip()) if t)


def attributes(group):
    """The enum of an attribute set."""
    prefix = group.prefix
    known = [a for a in group.attributes if a["type"] != "pad"]
    pad = [f"\t{prefix}PAD,"] if len(known) < len(group.attributes) else []
    out = kernel_doc("enum", group.set["doc"], [(prefix + "UNSPEC", "unused")] +
                     [(prefix + upper(a["name"]), meaning(group, a)) for a in known])
    out += ["enum {", f"\t{prefix}UNSPEC,"] + [f"\t{prefix}{upper(a['name'])}," for a in known]
    out += ["\t/* private: */"] + pad + [f"\t__{prefix}MAX,", "};", ""]
    return out + [f"#define {prefix}MAX\t(__{prefix}MAX - 1)", ""]


def header(spec):
    """The header file."""
    guard = "_UAPI_LINUX_" + upper(Path(spec.own["uapi"]).stem) + "_H"
    out = ["/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */",
           f"/* {MARK.capitalize()} from {spec.source} */", "/*", blurb(spec.own["doc"]), " */",
           f"#ifndef {guard}", f"#define {guard}", "", "#include <linux/types.h>", ""]
    for definition in spec.definitions:
        if definition["type"] == "enum":
            out += values(spec, definition)
        elif definition["type"] == "struct":
            out += structure(definition)
        else:
            name = upper(definition["name"])
            out += kernel_doc(name, definition["doc"], []) + [f"#define {name}\t{definition['value']}", ""]
    for group in spec.sets:
        out += attributes(group)
    return "\n".join(out + [f"#endif /* {guard} */"]) + "\n"
