"""Whether the parts of a run that a reader is about to trust are as they were written."""

from collections.abc import Iterable
from pathlib import Path

from magsim import records
from magsim.errors import MagsimError
from magsim.manifest import Plan


def check_part(part: Path) -> None:
    """Make sure that a part is intact.

    Raises:
        MagsimError: if its bytes are not those that its name vouches for.
    """
    if not records.is_intact(part):
        raise MagsimError(f"{part} is damaged: its bytes are not those that were written")


def check_parts(run: Path, plan: Plan, tables: Iterable[str]) -> None:
    """Make sure of all parts of some tables of a run.

    Raises:
        MagsimError: if one is damaged; it names the first.
    """
    for table in tables:
        for rules in plan.rules:
            for bot in plan.bots:
                for part in records.planned_parts(run, table, plan, rules, bot):
                    check_part(part)
