# SPDX-License-Identifier: GPL-2.0-only
"""Parameters of experiments: typed, with units.

A parameter's kind determines its text form and its value:

    count   "8"                 int, 0 or more
    number  "0.6"               float
    rate    "10gbit" "1.5mbit"  int, bit/s
    time    "5us" "20ms"        int, ns
    size    "9000" "64k" "1Mi"  int, bytes (k, M, G: 1000, ...; Ki, Mi, Gi: 1024, ...)
    word    "heads"             str, one of the choices

A list has values separated by commas: "1,10,100".
"""
import re

RATES = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9, "tbit": 10**12}
TIMES = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
SIZES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


class BadValue(ValueError):
    """A value is not allowed; the message names the value and the allowed ones."""


def scaled(text, units, what):
    """Return: value of TEXT, a number and one of the units, as an exact int."""
    match = re.fullmatch(r"(\d+)(?:\.(\d+))?([A-Za-z]*)", text)
    if not match or match[3] not in units:
        raise BadValue('"%s" is not a %s: a number and one of %s' % (
            text, what, ", ".join('"%s"' % u for u in units)))
    fraction = match[2] or ""
    value, rest = divmod(int(match[1] + fraction) * units[match[3]], 10**len(fraction))
    if rest:
        raise BadValue('"%s" is not a multiple of the smallest unit of a %s' % (text, what))
    return value


def count(text):
    if not re.fullmatch(r"\d+", text):
        raise BadValue('"%s" is not a count: 0, 1, 2, ...' % text)
    return int(text)


def number(text):
    try:
        return float(text)
    except ValueError:
        raise BadValue('"%s" is not a number' % text) from None


KINDS = {
    "count": count,
    "number": number,
    "rate": lambda text: scaled(text, RATES, "rate"),
    "time": lambda text: scaled(text, TIMES, "time"),
    "size": lambda text: scaled(text, SIZES, "size"),
    "word": str,
}
# kinds that can be drawn, with the unit of a value's text; those drawn as integers
UNITS = {"count": "", "number": "", "rate": "bit", "time": "ns", "size": ""}
EXACT = ("count", "rate", "time")


class Param:
    """A parameter of an experiment: Param("senders", "count", "8", "hosts that send").

    `several`: the value is a list. `choices`: the allowed words. `held_out`: texts of the least and the greatest value
    that `lab sweep --held-out` draws.
    """

    def __init__(self, name, kind, default, text, several=False, choices=(), held_out=()):
        if kind not in KINDS:
            raise BadValue('parameter %s: unknown kind "%s" (%s)' % (name, kind, " ".join(KINDS)))
        self.name, self.kind, self.default, self.text = name, kind, default, text
        self.several, self.choices, self.held_out = several, choices, held_out
        self.parse(default)
        if held_out and kind not in UNITS:
            raise BadValue("%s: values of the kind %s cannot be drawn" % (name, kind))

    def parse(self, text):
        """Return: value of TEXT."""
        words = text.split(",") if self.several else [text]
        try:
            values = [KINDS[self.kind](word.strip()) for word in words]
            for value in values:
                if self.choices and value not in self.choices:
                    raise BadValue('"%s" is not one of %s' % (value, ", ".join(self.choices)))
        except BadValue as error:
            raise BadValue("%s: %s" % (self.name, error)) from None
        return values if self.several else values[0]

    def draw(self, source):
        """Return: text of values between those of `held_out`, drawn from SOURCE, a random.Random.

        Sizes are drawn on a logarithmic scale, so that short ones are among them.
        """
        count = len(self.default.split(",")) if self.several else 1
        low, high = (KINDS[self.kind](text) for text in self.held_out)
        if self.kind == "size":
            values = [round(low * (high / low) ** source.random()) for _ in range(count)]
        elif self.kind in EXACT:
            values = source.sample(range(low, high + 1), count)
        else:
            values = [round(source.uniform(low, high), 3) for _ in range(count)]
        return ",".join(str(value) + UNITS[self.kind] for value in sorted(values))

    def describe(self):
        """Return: description of allowed values."""
        kind = "|".join(self.choices) if self.choices else self.kind
        return kind + ",..." if self.several else kind


def assignments(words):
    """Return: {name: text} of words name=text."""
    given = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise BadValue('"%s" is not key=value' % word)
        given[name] = text
    return given


def texts(params, given):
    """Return: {name: text} of all parameters: given texts and defaults."""
    names = [param.name for param in params]
    for name in given:
        if name not in names:
            raise BadValue('unknown parameter "%s" (%s)' % (name, " ".join(names)))
    result = {}
    for param in params:
        result[param.name] = given.get(param.name, param.default)
        param.parse(result[param.name])
    return result


class Values:
    """Values of parameters, as attributes."""

    def __init__(self, params, given):
        for param in params:
            setattr(self, param.name, param.parse(given[param.name]))
