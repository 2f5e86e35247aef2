"""The high scores as they are shown."""

from magsim.play import scores
from magsim.play.language import Phrase, Tongue
from magsim.play.scores import HighScore
from magsim.play.screen import Screen

_GAP = "  "


def _cells(place: int, entry: HighScore) -> list[str]:
    return [
        str(place),
        str(entry.score),
        str(entry.turns),
        str(entry.powers),
        str(entry.hints),
        entry.day(),
        f"{entry.seed}{'*' if entry.seed_chosen else ''}",
    ]


def table(entries: list[HighScore], tongue: Tongue) -> list[Phrase]:
    """Scores in aligned columns under their names, the best first."""
    say = tongue.say
    heads: list[str] = [
        say("place"),
        say("score"),
        say("turns"),
        say("Powers"),
        say("hints"),
        say("date"),
        say("seed"),
    ]
    rows = [_cells(place, entry) for place, entry in enumerate(entries, 1)]
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    return [
        Phrase(
            _GAP.join(
                tongue.notation(cell.rjust(width)) for cell, width in zip(row, widths, strict=True)
            )
        )
        for row in (heads, *rows)
    ]


def show(difficulty: str, top: int, tongue: Tongue, screen: Screen) -> None:
    """Show the best scores of a difficulty, and say which files hold none.

    Raises:
        MagsimError: if the scores cannot be read.
    """
    entries, damaged = scores.read(difficulty)
    name = difficulty.upper()
    if entries:
        screen.tell(tongue.count("{name}: {n} game", "{name}: {n} games", len(entries), name=name))
        screen.tell(*table(entries[:top], tongue))
    else:
        screen.tell(tongue.say("{name}: no game yet", name=name))
    if any(entry.seed_chosen for entry in entries[:top]):
        screen.tell(tongue.say("* The player chose the seed and may have known the dice."))
    for path in damaged:
        screen.tell(tongue.say("{path} is damaged and left out.", path=path))
    screen.tell("")
