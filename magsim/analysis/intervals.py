"""Intervals for means and paired differences, in plain arithmetic.

Formulas: Student's interval for a mean. A quantile beyond the table below comes from its expansion
in 1/df (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5).
"""

import math

_Z = 1.959963984540054
# Student's t, 97.5 % quantile, for 1 to 10 degrees of freedom (Abramowitz and Stegun, table 26.10).
_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


def t_quantile(df: int) -> float:
    """The 97.5 % quantile of Student's t with ``df`` >= 1 degrees of freedom, to three decimals."""
    if df <= len(_T):
        return _T[df - 1]
    z = _Z
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / df + second / df**2 + third / df**3


def half_width(deviation: float | None, n: int) -> float | None:
    """Half the width of the 95 % interval of a mean of ``n`` values; None where n < 2."""
    if n < 2 or deviation is None:
        return None
    return t_quantile(n - 1) * deviation / math.sqrt(n)
