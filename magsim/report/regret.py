"""The page of ``magsim regret``: all that was judged of a run."""

from collections.abc import Sequence
from pathlib import Path

from magsim.regret.worst import Worst
from magsim.report import judged
from magsim.report.judged import Judged
from magsim.report.page import Page, Section, check_folder, write
from magsim.report.words import counted

FOLDER = "regret"
"""Where a run keeps the page."""


def sections(found: Judged, worst: Sequence[Worst]) -> list[Section]:
    """All sections of the page."""
    every = [
        judged.luck(found),
        judged.grades(found),
        judged.kinds(found),
        judged.turns(found),
    ]
    if len(found.differences):
        every.append(judged.differences(found))
    if worst:
        every.append(judged.worst(found, worst))
    return every


def write_page(
    run: Path, found: Judged, worst: Sequence[Worst], missing: Sequence[str], folder: Path | None
) -> Path:
    """Write the page; the folder it is in. ``missing`` are sentences on what could not be judged.

    Raises:
        MagsimError: if the folder cannot be written.
    """
    target = folder or run / FOLDER
    check_folder(target)
    bots = ", ".join(found.bots)
    games = counted([row["games"] for row in found.adjusted.iter_rows(named=True)])
    left_out = "".join(f" Left out: {sentence}." for sentence in missing)
    intro = (
        f"Every decision in {games} of {bots} (seed {found.plan.seed}) against perfect play at "
        f"{', '.join(found.difficulties)}.{left_out} All intervals are 95 % intervals over games; "
        "± gives half of one."
    )
    write(Page(f"magsim: regret of {bots}", intro, "", tuple(sections(found, worst))), target)
    return target
