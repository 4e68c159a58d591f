# SPDX-License-Identifier: GPL-2.0-only
"""Lay out text: paragraphs, C statements, tables."""
import textwrap


def paragraph(text, first="", rest="", width=79):
    """Text as lines; a tab that begins a line counts for eight columns."""
    lines = textwrap.wrap(" ".join(text.split()), width - len(rest.expandtabs(8)) + len(rest),
                          initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def described(name, text):
    """Line of kernel-doc: NAME - TEXT or @NAME: TEXT."""
    return paragraph(text, f" * {name} ", " *\t")


def blurb(text):
    """Paragraphs of a comment."""
    return "\n *\n".join(paragraph(p, " * ", " * ") for p in text.strip().split("\n\n"))


def call(head, arguments, tail):
    """A call or prototype; beyond 100 columns it goes on below the parenthesis."""
    column = len(head.lstrip("\n").expandtabs(8))
    indent = "\t" * (column // 8) + " " * (column % 8)
    out, line = [], head
    for i, argument in enumerate(arguments):
        piece = argument + (", " if i + 1 < len(arguments) else tail)
        if len((line + piece.rstrip()).lstrip("\n").expandtabs(8)) > 100 and line.strip() and line != head:
            out.append(line.rstrip())
            line = indent
        line += piece
    return "\n".join(out + [line])


def table(rows):
    """Designated initializers with aligned values; a value that does not fit stands next to its key or below."""
    column = (max(len(k) for k, _ in rows) + 10 + 7) // 8 * 8
    out = []
    for key, value in rows:
        head = f"\t[{key}]"
        line = head + "\t" * ((column + 7 - len(head.expandtabs(8))) // 8) + f"= {value},"
        for other in (f"{head} = {value},", f"{head} =\n\t\t{value},"):
            if len(line.expandtabs(8)) > 100:
                line = other
        out.append(line)
    return out


def constant(value, bits=32):
    """A number as C writes it: digits, or binary units from 1 MiB on."""
    suffix = "ULL" if bits == 64 and value >= 2 ** 32 else ""
    for shift in (30, 20, 10):
        if value >= 2 ** 20 and value % 2 ** shift == 0 and 1 < value >> shift <= 1024:
            return f"({value >> shift}{suffix or 'U'} << {shift})"
    return f"({value})" if value < 0 else f"{value}{suffix}"
