# SPDX-License-Identifier: GPL-2.0-only
"""Statistics over the seeds of a sweep, on the host: intervals, verdicts, the end of a warm-up."""
import math
import random
import re

SURE = 0.95         # confidence of intervals
# 97.5 % quantiles of Student's t, by degrees of freedom from 1 on
STUDENT = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
DRAWS = 200         # resamples of a bootstrap
LEAST_SEEDS = 5     # with fewer values, an interval means nothing, and verdicts are open
LEAST_FLOWS = 1000  # behind a quoted p99
BATCH = 5           # samples per batch of steady_from()


def mean(values):
    return sum(values) / len(values)


def half_interval(values):
    """Return: half of the 95 % interval of the mean, by Student's t; 0 for one value.

    The values must be independent: one per seed, not several flows of one run. With five values, the percentiles of a
    bootstrap contain the mean in 83 % of the cases only. The t of more values than STUDENT has is right to 1 %.
    """
    n, middle = len(values), mean(values)
    if n < 2:
        return 0.0
    spread = math.sqrt(sum((value - middle) ** 2 for value in values) / (n - 1) / n)
    return spread * (STUDENT[n - 2] if n - 2 < len(STUDENT) else 1.96 + 2.5 / (n - 1))


def interval(values):
    """Return: 95 % interval (low, high) of the mean, see half_interval(). Equal values give equal bounds."""
    if min(values) == max(values):
        return values[0], values[0]
    half = half_interval(values)
    return mean(values) - half, mean(values) + half


def plus_minus(middle, half):
    """Return: text "MIDDLE ± HALF" with the digits that HALF justifies: one, or two if the first is 1.

    A HALF of zero, as of equal values, gives MIDDLE alone.
    """
    if not half > 1e-5 * abs(middle):
        return "%.4g" % middle
    digit, _, exponent = ("%.1e" % half).partition("e")
    places = -int(exponent) + (digit[0] == "1")
    return " ± ".join("%.*f" % (max(places, 0), round(value, places)) for value in (middle, half))


def satisfied(low, high, bar):
    """Return: True if each value from LOW to HIGH satisfies BAR, as closlab.results.holds() has it; False if none does;
    else None."""
    between = re.fullmatch(r"(-?[\d.e+-]+?)\.\.(-?[\d.e+-]+)", bar)
    if between:
        least, most = float(between[1]), float(between[2])
        return True if least <= low and high <= most else False if high < least or low > most else None
    sign, _, limit = bar.partition(" ")
    limit = float(limit)
    all_hold, none_holds = {
        ">=": (low >= limit, high < limit), ">": (low > limit, high <= limit),
        "<=": (high <= limit, low > limit), "<": (high < limit, low >= limit),
        "==": (low == high == limit, high < limit or low > limit),
    }[sign]
    return True if all_hold else False if none_holds else None


def verdict(values, bar):
    """Return: "holds" or "fails" if the whole 95 % interval of the mean of VALUES does, else "open"."""
    if len(values) < LEAST_SEEDS:
        return "open"
    return {True: "holds", False: "fails", None: "open"}[satisfied(*interval(values), bar)]


def steady_from(values):
    """Return: index of the first of VALUES, samples at equal distances, that belongs to the steady state.

    MSER-5 (White 1997): the cut, in batches of five samples and within the first half, with the least standard error of
    the remaining mean. ValueError if the best cut is the last one, since the end of the warm-up was not seen then.
    """
    batches = [mean(values[i:i + BATCH]) for i in range(0, len(values) - BATCH + 1, BATCH)]
    if len(batches) < 4:
        raise ValueError("%d samples are too few to find the steady state" % len(values))
    total = squares = 0.0
    errors = {}
    for cut in range(len(batches) - 1, -1, -1):
        total += batches[cut]
        squares += batches[cut] ** 2
        n = len(batches) - cut
        if cut <= len(batches) // 2:
            errors[cut] = max(0.0, squares - total * total / n) / n**2
    best = min(errors, key=lambda cut: (errors[cut], cut))
    if best == len(batches) // 2:
        raise ValueError("no steady state within the first half of the samples")
    return best * BATCH


def realized_load(flows, links_bps, begin, end):
    """Return: load from the realized bytes of the flows that started from BEGIN to END (ns), as a share of LINKS_BPS.

    FLOWS: Columns of flows.csv. LINKS_BPS: sum of the rates of the sending hosts' links, bit/s.
    """
    sent = sum(size for size, at in zip(flows["bytes"], flows["start_ns"]) if at != "" and begin <= at < end)
    return sent * 8e9 / (end - begin) / links_bps


def pooled_tail(samples, q=0.99):
    """Return: quantile Q of all values, and its 95 % interval (low, high) by a bootstrap over seeds.

    SAMPLES: a list of values per seed. ValueError if there are fewer than LEAST_FLOWS values for p99, or
    LEAST_FLOWS * 0.01 / (1 - Q) for other quantiles.
    """
    least = round(LEAST_FLOWS * 0.01 / (1 - q))
    have = sum(len(values) for values in samples)
    if have < least:
        raise ValueError("%d values are too few for the quantile %g: at least %d" % (have, q, least))

    def of(lists):
        ordered = sorted(value for values in lists for value in values)
        return ordered[min(len(ordered) - 1, int(q * len(ordered)))]

    draw = random.Random(len(samples))
    found = sorted(of(draw.choices(samples, k=len(samples))) for _ in range(DRAWS))
    cut = round(len(found) * (1 - SURE) / 2)
    return of(samples), (found[cut], found[-1 - cut])
