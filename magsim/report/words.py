"""Figures in words: numbers with intervals, shares, lists, as every report says them."""

from collections.abc import Iterable, Sequence

from magsim.analysis.intervals import digits_for

DASH = "–"
SHOWN = 4
"""So many things are told one by one; of more, the first and the last."""


def capital(text: str) -> str:
    """A text with a capital at its beginning, as a sentence or a title has."""
    return text[:1].upper() + text[1:]


def number(value: float | None, digits: int = 1) -> str:
    """A number, or a dash where there is none; no minus before a zero."""
    if value is None:
        return DASH
    text = f"{value:,.{digits}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.,") else text


def interval(value: float | None, half_width: float | None, sign: bool = False) -> str:
    """A value with its interval, as in ``151.3 ± 0.4``; alone where there is none."""
    return _with_half_width(value, half_width, 1, sign)


def small_interval(value: float | None, half_width: float | None, sign: bool = False) -> str:
    """A value that is small with its interval, as in ``0.23 ± 0.01``; alone where there is none."""
    return _with_half_width(value, half_width, 2, sign)


def _with_half_width(value: float | None, half_width: float | None, digits: int, sign: bool) -> str:
    digits = digits_for(half_width, digits)
    text = number(value, digits)
    plus = "+" if sign and value is not None and not text.startswith("-") else ""
    return f"{plus}{text}" + ("" if half_width is None else f" ± {number(half_width, digits)}")


def between(value: float | None, low: float | None, high: float | None, digits: int = 0) -> str:
    """A value with the ends of its interval, as in ``482 (480 to 485)``."""
    if low is None or high is None:
        return number(value, digits)
    return f"{number(value, digits)} ({number(low, digits)} to {number(high, digits)})"


def percent(share: float | None, digits: int = 1) -> str:
    """A share in percent."""
    return DASH if share is None else f"{number(100 * share, digits)} %"


def percent_between(share: float | None, low: float | None, high: float | None) -> str:
    """A share in percent with the ends of its interval, as in ``12.0 % (11.4 to 12.6)``."""
    if share is None or low is None or high is None:
        return percent(share)
    return f"{percent(share)} ({number(100 * low)} to {number(100 * high)})"


def percent_interval(share: float | None, half_width: float | None) -> str:
    """A share in percent with its interval, as in ``34.7 ± 0.3 %``."""
    if share is None:
        return DASH
    width = None if half_width is None else 100 * half_width
    return f"{interval(100 * share, width)} %"


def listed(things: Iterable[str], joint: str = "; ") -> str:
    """Things in a row; of many, the first and the last."""
    told = list(things)
    if len(told) > SHOWN:
        return joint.join([told[0], "…", told[-1]])
    return joint.join(told)


def counted(values: Sequence[int]) -> str:
    """How many games, as ``1 game``, ``10,000 games`` or ``500 to 10,000 games``."""
    low, high = min(values), max(values)
    games = "game" if high == 1 else "games"
    return f"{low:,} {games}" if low == high else f"{low:,} to {high:,} {games}"
