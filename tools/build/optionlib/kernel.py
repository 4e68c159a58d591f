# SPDX-License-Identifier: GPL-2.0-only
"""Write the options of a module: structure, defaults, policy, messages, parsing, dump."""
from pathlib import Path

from .spec import MARK, lower, upper
from .text import call, constant, described, paragraph, table


def stem(group):
    """Prefix of a group's C names: ndpq, dcqcnq_pool."""
    return group.spec.c + (f"_{group.nest}" if group.nest else "")


def limit(option, end):
    """C constant of a range's end."""
    return f"{upper(stem(option.group))}_{upper(option.name)}_{end}"


def has_limits(option):
    """Are there constants for the range?"""
    return option.range and option.kind not in ("flag", "name", "dscp")


def limits(group):
    """The ranges as constants."""
    out = []
    for option in filter(has_limits, group.options):
        low, high = option.range
        bits = 64 if option.type == "nest" else option.bits
        if low:
            out.append(f"#define {limit(option, 'MIN')}\t{constant(low, bits)}")
        if high != 2 ** bits - 1:
            out.append(f"#define {limit(option, 'MAX')}\t{constant(high, bits)}")
    column = max(len(line.split("\t")[0]) for line in out) // 8 * 8 + 8
    return [h + "\t" * ((column - len(h) + 7) // 8) + v for h, v in (line.split("\t") for line in out)] + [""]


def meaning(option):
    """Documentation of a member."""
    text = f"enum {lower(option.enum['name'])}" if option.enum else ""
    return ", ".join(t for t in (text, option.doc) if t)


def prototypes(group):
    """Heads of the functions."""
    name = f"{stem(group)}_options"
    out = {"init": f"void {name}_init(struct {name} *o)"}
    if group.spec.link:
        out["parse"] = call(f"int {name}_parse(", [f"struct {name} *o", "struct nlattr **tb",
                                                   "struct netlink_ext_ack *extack"], ")")
        out["size"] = f"size_t {name}_size(void)"
    else:
        out["parse"] = call(f"int {name}_parse(", [f"struct {name} *o", "struct nlattr **tb",
                                                   "const struct nlattr *nest", "struct netlink_ext_ack *extack"], ")")
    out["dump"] = call(f"int {name}_dump(", ["struct sk_buff *skb", f"const struct {name} *o"], ")")
    return out


def header(spec):
    """PREFIX_options.h"""
    guard = f"_CLOSNET_{upper(spec.c)}_OPTIONS_H"
    out = ["/* SPDX-License-Identifier: GPL-2.0-only */", f"/* {MARK.capitalize()} from {spec.source} */",
           f"#ifndef {guard}", f"#define {guard}", "", "#include <linux/types.h>", "",
           "struct netlink_ext_ack;", "struct nlattr;", "struct sk_buff;", ""]
    for group in spec.groups:
        name = f"{stem(group)}_options"
        out += limits(group)
        out += ["/**", described(f"struct {name} -", group.set["doc"].split("\n")[0])]
        out += [described(f"@{o.field}:", meaning(o)) for o in group.plain] + [" */", f"struct {name} {{"]
        out += [f"\t{'bool' if o.kind == 'flag' else o.type} {o.field};" for o in group.plain] + ["};", ""]
        out += [p + ";" for p in prototypes(group).values()] + [""]
    return "\n".join(out + [f"#endif /* {guard} */"]) + "\n"


# ---- policy ----

def ends(option):
    """Lowest and highest value that the policy accepts; None: that of the type."""
    bits = option.bits - (1 if option.signed else 0)
    low, high = option.range or [-(2 ** bits) if option.signed else 0, 2 ** bits - 1]
    if option.zero is not None:
        low = 0
    least = -(2 ** bits) if option.signed else 0
    return None if low == least else low, None if high == 2 ** bits - 1 else high


def policy(option):
    """Entry of the policy."""
    if option.type in ("nest", "string"):
        return "{ .type = " + {"nest": "NLA_NESTED", "string": "NLA_STRING"}[option.type] + " }"
    if option.type == "binary":
        if option.struct:
            return f"NLA_POLICY_MIN_LEN(sizeof(struct {lower(option.struct)}))"
        return f"NLA_POLICY_EXACT_LEN({option.length})"
    kind = f"NLA_{option.type.upper()}"
    if option.kind == "name":
        return f"NLA_POLICY_MAX({kind}, {option.group.spec.enum_prefix(option.enum)}MAX)"
    low, high = ends(option)
    if low is None and high is None:
        return f"{{ .type = {kind} }}"
    if max(abs(low or 0), abs(high or 0)) > 32767:
        signed = "_SIGNED" if option.signed else ""
        return f"NLA_POLICY_FULL_RANGE{signed}({kind}, &{range_name(option)})"
    if low is None:
        return f"NLA_POLICY_MAX({kind}, {high})"
    if high is None:
        return f"NLA_POLICY_MIN({kind}, {low})"
    return f"NLA_POLICY_RANGE({kind}, {low}, {high})"


def range_name(option):
    """Name of a struct netlink_range_validation."""
    return f"{stem(option.group)}_{lower(option.name)}_range"


def ranges(group):
    """The ranges that an entry of a policy cannot hold."""
    out = []
    for option in group.options:
        if "FULL_RANGE" not in policy(option):
            continue
        low, high = ends(option)
        # 6.1 points to a signed range without const
        kind = "struct netlink_range_validation_signed" if option.signed else "const struct netlink_range_validation"
        out.append(f"static {kind} {range_name(option)} = {{")
        out += [f"\t.min = {limit(option, 'MIN')},"] if low is not None else []
        out += [f"\t.max = {limit(option, 'MAX') if high is not None else constant(2 ** option.bits - 1, 64)},"]
        out += ["};", ""]
    return out


# ---- functions ----

def default(option):
    """The default as C writes it."""
    if option.kind == "flag":
        return "true" if option.default else "false"
    if option.enum:
        return option.group.spec.entry(option.enum, option.number())
    if option.default in option.group.spec.constants:
        return upper(option.default)
    return constant(option.number(), option.bits).strip("()")


def why(option):
    """Comment above a default."""
    lines = paragraph(option.why, "", "", 76).split("\n") if option.why else []
    if len(lines) > 1:
        return ["\t\t/*"] + ["\t\t * " + line for line in lines] + ["\t\t */"]
    return [f"\t\t/* {line} */" for line in lines]


def init_body(group):
    """Statements of PREFIX_options_init()."""
    out = [f"\t*o = (struct {stem(group)}_options) {{"]
    for option in group.plain:
        if option.number() or option.why or option.enum:
            out += why(option) + [f"\t\t.{option.field} = {default(option)},"]
    return out + ["\t};"]


def condition(option):
    """Of an option that requires another one: the C expression, and the text of its message."""
    name, value = option.requires
    other = option.group.find(name)
    index = [e["name"] for e in other.enum["entries"]].index(value)
    return f"o->{other.field} == {option.group.spec.entry(other.enum, index)}", f"{lower(other.name)} {lower(value)}"


def parse_body(group):
    """Statements of PREFIX_options_parse()."""
    base = stem(group)
    if group.spec.link:
        check = call("\terr = closnet_nla_check(", ["tb", group.prefix + "MAX", base + "_policy", base + "_messages",
                                                   "extack"], ");")
    else:
        check = call("\terr = closnet_nla_parse_nested(", ["tb", group.prefix + "MAX", "nest", base + "_policy",
                                                          base + "_messages", "extack"], ");")
    out = ["\tint err;", "", check, "\tif (err)", "\t\treturn err;", ""]
    for option in group.plain:
        out.append(call(f"\to->{option.field} = nla_get_{option.type}_default(",
                        [f"tb[{option.attr}]", f"o->{option.field}"], ");"))
    gaps = [o for o in group.plain if o.gap()]
    for option in gaps:
        head = "\n\tif (" if option is gaps[0] else "\t    "
        out.append(call(head + "closnet_nla_in_gap(", [f"tb[{option.attr}]", limit(option, "MIN"),
                                                      base + "_messages", "extack"],
                        "))" if option is gaps[-1] else ") ||"))
    out += ["\t\treturn -ERANGE;"] if gaps else []
    for option in group.plain:
        if option.requires:
            expression, text = condition(option)
            attr = f"tb[{option.attr}]"
            out += ["", f"\tif ({attr} && {expression.replace('==', '!=')}) {{",
                    call("\t\tNL_SET_ERR_MSG_ATTR(", ["extack", attr, f'"{required(option, text)}"'], ");"),
                    "\t\treturn -EINVAL;", "\t}"]
    return out + ["", "\treturn 0;"]


def required(option, text):
    """Message about an option without the one that it requires."""
    return f"{lower(option.name)} needs {text}"


def put(option):
    """Expression that dumps an attribute."""
    value = f"o->{option.field}"
    pad = f", {option.group.prefix}PAD" if option.bits == 64 else ""
    name = {"u64": "nla_put_u64_64bit"}.get(option.type, f"nla_put_{option.type}")
    text = f"{name}(skb, {option.attr}, {value}{pad})"
    return f"({condition(option)[0]} &&\n\t     {text})" if option.requires else text


def size_body(group):
    """Statements of PREFIX_options_size()."""
    sizes = []
    for option in group.plain:
        name = "nla_total_size_64bit" if option.bits == 64 else "nla_total_size"
        sizes.append(f"{name}(sizeof({option.type}))")
    return ["\treturn " + " +\n\t       ".join(sizes) + ";"]


def function(comment, prototype, body):
    """A documented function."""
    return ["/**"] + [f" * {line}".rstrip() for line in comment] + [" */", prototype, "{"] + body + ["}", ""]


def functions(group):
    """The functions of a group."""
    name, heads = f"{stem(group)}_options", prototypes(group)
    out = function([f"{name}_init() - set the defaults", "@o: options"], heads["init"], init_body(group))
    if group.spec.link:
        comment = [f"{name}_parse() - check attributes and take them over",
                   "@o: options; undefined after an error", "@tb: attributes by type"]
    else:
        comment = [f"{name}_parse() - take over the attributes of a nest",
                   "@o: options; undefined after an error", "@tb: filled with the attributes by type",
                   "@nest: the nest"]
    comment += ["@extack: error report", "",
                "Return: 0, or a negative error if an attribute is malformed or out of range."]
    out += function(comment, heads["parse"], parse_body(group))
    if group.spec.link:
        out += function([f"{name}_size() - get the size of a dump", "", "Return: bytes."], heads["size"],
                        size_body(group))
    comment = [f"{name}_dump() - put the options into a message", "@skb: message", "@o: options", "",
               "Return: 0 or -EMSGSIZE."]
    body = ["\tif (" + " ||\n\t    ".join(put(o) for o in group.plain) + ")", "\t\treturn -EMSGSIZE;", "\treturn 0;"]
    return out + function(comment, heads["dump"], body)


def source(spec):
    """PREFIX_options.c"""
    out = ["// SPDX-License-Identifier: GPL-2.0-only", f"/* {MARK.capitalize()} from {spec.source} */",
           "#include <closnet/netlink.h>", f"#include <{spec.include}>",
           f'#include "{spec.c}_options.h"', ""]
    for group in spec.groups:
        base = stem(group)
        out += ranges(group)
        out += [f"static const struct nla_policy {base}_policy[{group.prefix}MAX + 1] = {{"]
        out += table([(o.attr, policy(o)) for o in group.options]) + ["};", ""]
        out += [f"static const char * const {base}_messages[{group.prefix}MAX + 1] = {{"]
        out += table([(o.attr, f'"{o.message}"') for o in group.options if o.message]) + ["};", ""]
        out += functions(group)
    return "\n".join(out).rstrip("\n") + "\n"
