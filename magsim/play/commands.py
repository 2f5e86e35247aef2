"""The commands of the prompt: words of a line into what is meant, forgiving about how it is put."""

import re
from dataclasses import dataclass
from difflib import get_close_matches

from magsim.board import CELL_NAMES, SIDES
from magsim.decision import Power
from magsim.play.language import Phrase, Tongue

WORDS = (
    "undo",
    "raise",
    "lower",
    "reroll",
    "done",
    "ruin",
    "hint",
    "why",
    "score",
    "rules",
    "show",
    "save",
    "help",
    "quit",
)
_SHORT = {"u": "undo", "d": "done", "h": "help", "?": "help", "q": "quit", "exit": "quit"}
_FILLERS = {"on", "to", "at"}
MAX_HINTS = 9
_LONGEST = 40


class Refusal(Exception):
    """A line cannot be done; ``sentence`` says why, and nothing has changed."""

    def __init__(self, sentence: Phrase) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Command:
    """What a line means: ``verb`` is one of ``WORDS`` (raise, lower and reroll are ``power``),
    ``place`` or ``choose``.

    ``placements`` are (die, cell) pairs, die 0 for the chosen one; ``then_done`` confirms after
    them. ``die`` and ``cell`` are what else was named, ``everything`` stands for all dice.
    """

    verb: str
    placements: tuple[tuple[int, int], ...] = ()
    then_done: bool = False
    die: int | None = None
    cell: int | None = None
    power: Power | None = None
    everything: bool = False
    count: int = 1


def shown(typed: str) -> str:
    """What was typed, fit to be repeated: without control characters, and not too long."""
    text = "".join(sign if sign.isprintable() else "?" for sign in typed)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def words_of(line: str) -> str:
    """A line in lower case, its words parted by single spaces; empty if there are none."""
    return re.sub(r"[\s,;]+", " ", line.lower()).strip()


def parse(line: str, tongue: Tongue) -> Command:
    """The command of a line that has words.

    Raises:
        Refusal: if it is none.
    """
    text = words_of(line)
    if sign := re.fullmatch(r"([+-]) ?(.*)", text):
        kind = "raise" if sign[1] == "+" else "lower"
        return _Parser(tongue, sign[1], sign[2].split()).power(kind)
    if text[:1].isdigit() or re.match(r"[a-z]\d", text):
        return _placing(text, tongue)
    first, _, rest = text.partition(" ")
    word = _word(first, tongue)
    parser = _Parser(tongue, word, rest.split())
    if word in ("raise", "lower", "reroll"):
        return parser.power(word)
    return getattr(parser, word, parser.bare)()


def _word(typed: str, tongue: Tongue) -> str:
    """The word that is meant: itself, its short form, or the only one that begins so."""
    if typed in WORDS:
        return typed
    if typed in _SHORT:
        return _SHORT[typed]
    meant = [word for word in WORDS if word.startswith(typed)]
    if len(meant) == 1:
        return meant[0]
    if meant:
        choices = " / ".join(meant)
        raise Refusal(tongue.say("“{word}” may be {choices}.", word=shown(typed), choices=choices))
    near = get_close_matches(typed, WORDS, n=1, cutoff=0.6)
    if near:
        raise Refusal(
            tongue.say(
                "There is no command “{word}”; did you mean “{near}”?",
                word=shown(typed),
                near=near[0],
            )
        )
    raise Refusal(
        tongue.say(
            "There is no command “{word}”; “{help}” lists them all.", word=shown(typed), help="help"
        )
    )


def _die(word: str, tongue: Tongue) -> int:
    if word in map(str, range(1, SIDES + 1)):
        return int(word)
    raise Refusal(
        tongue.say("“{word}” is no die; a die is a number from 1 to 6.", word=shown(word))
    )


def _cell(word: str, tongue: Tongue) -> int:
    if word in CELL_NAMES:
        return CELL_NAMES.index(word)
    raise Refusal(
        tongue.say(
            "“{word}” is no cell; a cell is a column {columns} and a row {rows}: {example}.",
            word=shown(word),
            columns="a-d",
            rows="1-4",
            example="b2",
        )
    )


def _pair(first: str, second: str, tongue: Tongue) -> tuple[int, int]:
    """A die and a cell, named in either order."""
    die, cell = (first, second) if first[0].isdigit() else (second, first)
    return _die(die, tongue), _cell(cell, tongue)


def _placing(text: str, tongue: Tongue) -> Command:
    """A die to choose, a cell for the chosen die, or dice with their cells, in either order."""
    spaced = re.sub(r"(?<=[0-9])(?=[a-z][0-9])|(?<=[a-z][0-9])(?=[0-9])", " ", text)
    words = [word for word in spaced.split() if word not in _FILLERS]
    then_done = len(words) > 1 and words[-1] in ("done", "d")
    if then_done:
        words.pop()
    if len(words) == 1 and words[0][0].isdigit():
        die = _die(words[0], tongue)
        if then_done:
            raise Refusal(
                tongue.say("Say where the {die} goes, as in “{example}”.", die=die, example="3 b2")
            )
        return Command("choose", die=die)
    if len(words) == 1:
        return Command("place", ((0, _cell(words[0], tongue)),), then_done)
    pairs = []
    for first, second in zip(words[::2], [*words[1::2], ""], strict=False):
        if not second:
            raise Refusal(
                tongue.say(
                    "“{word}” stands alone; a placement is a die and a cell, as in “{example}”.",
                    word=shown(first),
                    example="3 b2",
                )
            )
        pairs.append(_pair(first, second, tongue))
        if [cell for _, cell in pairs].count(pairs[-1][1]) > 1:
            raise Refusal(tongue.say("{cell} is named twice.", cell=CELL_NAMES[pairs[-1][1]]))
    return Command("place", tuple(pairs), then_done)


class _Parser:
    """The words after a command's own; a method a command."""

    def __init__(self, tongue: Tongue, word: str, words: list[str]) -> None:
        self._tongue = tongue
        self._word = word
        self._words = [word for word in words if word not in _FILLERS]

    def _usage(self, *forms: str) -> Refusal:
        shown = " / ".join(forms)
        return Refusal(self._tongue.say("Write it as {forms}.", forms=shown))

    def bare(self) -> Command:
        if self._words:
            raise Refusal(
                self._tongue.say("“{word}” stands alone, without more words.", word=self._word)
            )
        return Command(self._word)

    def undo(self) -> Command:
        match self._words:
            case []:
                return Command("undo")
            case ["all"]:
                return Command("undo", everything=True)
            case [word]:
                return Command("undo", cell=_cell(word, self._tongue))
        raise self._usage("undo", "undo b2", "undo all")

    def power(self, kind: str) -> Command:
        if kind == "reroll":
            if self._words == ["all"]:
                return Command("power", power=Power(kind, ()), everything=True)
            split = (word if word.isdigit() else [word] for word in self._words)
            dice = [_die(symbol, self._tongue) for symbols in split for symbol in symbols]
            if not dice:
                raise self._usage("reroll 1 4", "reroll all")
            return Command("power", power=Power(kind, tuple(sorted(dice))))
        if len(self._words) != 1:
            raise self._usage("+3" if kind == "raise" else "-3", f"{kind} 3")
        return Command("power", power=Power(kind, (_die(self._words[0], self._tongue),)))

    def ruin(self) -> Command:
        if len(self._words) != 1:
            raise self._usage("ruin c3")
        return Command("ruin", cell=_cell(self._words[0], self._tongue))

    def hint(self) -> Command:
        match self._words:
            case []:
                return Command("hint")
            case [word] if word in map(str, range(1, MAX_HINTS + 1)):
                return Command("hint", count=int(word))
        raise self._usage("hint", f"hint {MAX_HINTS}")

    def why(self) -> Command:
        match self._words:
            case [cell]:
                return Command("why", cell=_cell(cell, self._tongue))
            case [first, second]:
                die, where = _pair(first, second, self._tongue)
                return Command("why", die=die, cell=where)
        raise self._usage("why b2", "why 3 b2")
