"""Exhaustive counts of the law over all rolls, after the manner of *perft* in chess programs.

Run by hand, ``python tests/counts.py > tests/data/counts.jsonl`` counts by the readable law.
"""

import json
from collections.abc import Callable, Iterable
from itertools import combinations_with_replacement, permutations

from magsim import rules as law
from magsim.board import DICE, SIDES, parse_board
from magsim.rules import Rules

ROLLS = tuple(combinations_with_replacement(range(1, SIDES + 1), DICE))
BOARDS = (
    "..../..../..../....",
    "R.../..../..../....",
    "..../.R../..R./....",
    "..../..../.3../....",
    "1.../..../..../....",
    "..../.34./..R./....",
    "4..R/R..4/.R../..3.",
    "2345/..../5432/....",
    "12../2.R./.R45/..56",
    "3333/3..3/3..3/3333",
    "R..R/.RR./.RR./R..R",
    "123./R.R4/3.R./2345",
    "3333/3333/333R/33R.",
    "3333/3333/33.R/33R.",
    "1234/2.45/3456/445.",
)
OTHER_DIFFERENCES = (0, 2, 5)

Outcomes = Callable[[int, tuple[int, ...], Rules], Iterable[int]]


def count(board: int, rules: Rules, outcomes: Outcomes) -> dict[str, int]:
    """Outcomes over the 126 rolls, and over all 1296 ordered throws, of which some allow none."""
    total = weighted = magdagdon = 0
    for roll in ROLLS:
        found = len(list(outcomes(board, roll, rules)))
        throws = len(set(permutations(roll)))
        total += found
        weighted += throws * found
        magdagdon += throws * (found == 0)
    return {"outcomes": total, "by_throws": weighted, "magdagdon": magdagdon}


def rules_of(case: dict[str, int]) -> Rules:
    return Rules(
        "count", minimum=case["minimum"], power_costs=(), max_difference=case["max_difference"]
    )


def main() -> None:
    starts = [(board, minimum, 1) for board in BOARDS for minimum in range(1, DICE + 1)]
    starts += [(board, 2, difference) for board in BOARDS for difference in OTHER_DIFFERENCES]
    for board, minimum, difference in starts:
        case = {"board": board, "minimum": minimum, "max_difference": difference}
        counts = count(parse_board(board), rules_of(case), law.outcomes)
        print(json.dumps(case | counts), flush=True)


if __name__ == "__main__":
    main()
