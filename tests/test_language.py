"""The languages of the prompt: nothing untranslated, nothing too wide, boards left to right."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po
from rich.cells import cell_len
from rich.console import Console

import magsim.play
from magsim.board import parse_board
from magsim.play import LANGUAGES
from magsim.play.game import Game
from magsim.play.language import Phrase, Tongue, preferred, speakable
from magsim.play.saves import Sitting
from magsim.play.screen import Screen
from magsim.play.session import Prompt, Session
from magsim.rules import DIFFICULTIES, SURVIVAL

FOREIGN = tuple(code for code in LANGUAGES if code != "en")
SOURCES = Path(magsim.play.__file__).parent
KEYWORDS: dict[str, tuple[int, ...] | None] = {"say": None, "_say": None, "count": (1, 2)}
ISOLATES = "\u2066\u2067\u2069"
COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def messages() -> Iterator[tuple[str, ...]]:
    """Every message in the sources: one text, or two where it has a plural."""
    for _, _, found, _, _ in extract_from_dir(SOURCES, keywords=KEYWORDS):
        yield found if isinstance(found, tuple) else (found,)


def catalogue(code: str) -> Catalog:
    with (SOURCES / "locale" / f"{code}.po").open("rb") as source:
        return read_po(source, locale=code)


def forms(message: Message) -> tuple[str, ...]:
    return message.string if isinstance(message.string, tuple) else (message.string,)


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_the_sources_have_messages() -> None:
    found = set(messages())
    assert ("Dice {dice}; {powers}",) in found
    assert ("{n} Power", "{n} Powers") in found
    assert len(found) > 100


@pytest.mark.parametrize("code", FOREIGN)
def test_every_message_is_translated_in_every_form(code: str) -> None:
    translated = catalogue(code)
    for message in messages():
        found = translated.get(message[0])
        assert found is not None, message
        assert not found.fuzzy, message
        assert found.pluralizable == (len(message) == 2), message
        assert len(forms(found)) == (translated.num_plurals if len(message) == 2 else 1), message
        assert all(forms(found)), message


@pytest.mark.parametrize("code", FOREIGN)
def test_no_translation_is_of_a_message_that_is_gone(code: str) -> None:
    known = {message[0] for message in messages()}
    for message in catalogue(code):
        key = message.id[0] if isinstance(message.id, tuple) else message.id
        assert key == "" or key in known


@pytest.mark.parametrize("code", FOREIGN)
def test_translations_have_the_places_of_their_messages(code: str) -> None:
    for message in catalogue(code):
        if not message.id:
            continue
        wanted = fields(message.id[-1] if isinstance(message.id, tuple) else message.id)
        for text in forms(message):
            spare = {"n", "place"} if message.pluralizable else set()  # said in words of the one
            assert fields(text) | spare == wanted | spare, text
            rules = re.findall(r"\(R\d+(?:-R\d+)?\)", str(message.id))
            assert set(re.findall(r"\(R\d+(?:-R\d+)?\)", text)) == set(rules), text
            assert not set(text) & set(ISOLATES + "\u200e\u200f"), text


def test_a_message_that_is_not_translated_is_said_in_english() -> None:
    assert Tongue("pl").say("never {word} before", word="heard") == "never heard before"
    assert Tongue("tr").count("{n} quux", "{n} quuxes", 2) == "2 quuxes"


@pytest.mark.parametrize(
    ("code", "number"), [("pl", {1: 0, 2: 1, 4: 1, 5: 2, 12: 2, 22: 1}), ("tr", {1: 0, 2: 1})]
)
def test_plural_forms_go_by_the_number(code: str, number: dict[int, int]) -> None:
    one, many = "{name}: {n} game", "{name}: {n} games"
    message = catalogue(code).get(one)
    assert message is not None
    for n, form in number.items():
        assert (
            Tongue(code).count(one, many, n, name="{name}").replace(str(n), "{n}")
            == forms(message)[form]
        )
    if code == "pl":
        assert len(set(forms(message))) == 3


class Recorder:
    """A screen that is written into a text, 80 columns wide, with or without colour."""

    def __init__(self, code: str, plain: bool = False, colour: bool = True) -> None:
        self._file = io.StringIO()
        console = Console(
            file=self._file,
            width=80,
            height=24,
            force_terminal=True,
            no_color=not colour,
            highlight=False,
            soft_wrap=True,
            markup=False,
            emoji=False,
        )
        self.tongue = Tongue(code)
        self.screen = Screen(self.tongue, console, plain)

    def lines(self) -> list[str]:
        text = self._file.getvalue()
        self._file.seek(0)
        self._file.truncate()
        return COLOUR.sub("", text).splitlines()


def session(recorder: Recorder, game: Game) -> Session:
    def advise(_game: Game, _count: int) -> list[Phrase]:
        return []

    def read() -> str:
        raise EOFError

    sitting = Sitting("x", "2026-01-01T00:00:00+00:00", True, "a", 0, game)
    say = recorder.tongue.say
    prompt = Prompt(
        recorder.tongue,
        recorder.screen,
        read,
        advise,
        lambda _: say("{bot} has {score}", bot="mcts:iterations=500", score=123),
    )
    return Session(sitting, prompt)


def show(seat: Session, line: str) -> None:
    """The screen that greets, or the answer to a line."""
    if line:
        seat._answer(line)
    else:
        seat.run()


def games() -> Iterator[Game]:
    """Games with everything that a screen can show."""
    for rules in DIFFICULTIES.values():
        for board, hand, staged in (
            ("..../..../..../....", (3, 3, 4, 5), ()),
            ("..../.3../..../....", (3, 3, 4, 5), ((3, 4), (3, 6), (4, 9))),
            ("1R6./R.../..../....", (3, 3, 3, 4), ()),
            ("5656/6565/5555/65.6", (1, 1, 1, 1), ()),
            ("RRRR/RRRR/RRRR/RR1.", (3, 3, 4, 6), ()),
            ("111./1.1./111./....", (3, 4, 5, 6), ()),
            ("RR3R/RR.R/R..R/RRRR", (2, 3, 4, 4), ((2, 6),)),
        ):
            game = Game(10**15 - 1, rules)
            game.board, game.hand, game.staged = parse_board(board), hand, staged
            yield game


pytestmark = pytest.mark.usefixtures("data")


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_screen_fits_80_by_24(code: str) -> None:
    recorder = Recorder(code)
    for game in games():
        seat = session(recorder, game)
        for line in (
            "",
            "why b2",
            "why 6 b1",
            "undo b2",
            "done",
            "xyzzy",
            "help",
            "rules",
            "score",
        ):
            show(seat, line)
            shown = recorder.lines()
            assert len(shown) <= 23, "\n".join(shown)
            assert all(cell_len(text) <= 80 for text in shown), "\n".join(shown)


@pytest.mark.parametrize("code", LANGUAGES)
def test_directional_isolates_are_closed_on_their_line_and_only_in_hebrew(code: str) -> None:
    recorder = Recorder(code)
    for game in games():
        seat = session(recorder, game)
        for line in ("", "why b2", "why 6 b1", "help", "rules", "score"):
            show(seat, line)
            for text in recorder.lines():
                depth = 0
                for sign in text:
                    depth += (sign in ISOLATES[:2]) - (sign == ISOLATES[2])
                    assert depth >= 0
                assert depth == 0
                assert (code == "he") >= any(sign in ISOLATES for sign in text)


def test_boards_and_dice_are_left_to_right_in_hebrew() -> None:
    recorder = Recorder("he")
    game = next(games())
    session(recorder, game).run()
    shown = recorder.lines()
    boards = [text for text in shown if "│" in text or "─" in text]
    assert len(boards) == 9
    ends = {text.index("\u2069") for text in boards}
    assert {text[:2] for text in boards} == {" \u2066"}
    assert len(ends) == 1, "the frame is as wide in every line"
    assert any("\u20663 3 4 5\u2069" in text for text in shown)


def test_in_hebrew_a_command_is_parted_from_its_meaning_outside_its_isolate() -> None:
    recorder = Recorder("he")
    show(session(recorder, next(games())), "help")
    isolated = re.findall("\u2066([^\u2069]*)\u2069", "".join(recorder.lines()))
    assert "undo, undo b2, undo all" in isolated
    assert not any(text.endswith(" ") for text in isolated)


def test_in_no_colour_a_staged_die_is_told_from_a_permanent_one() -> None:
    recorder = Recorder("en", colour=False)
    game = Game(1, SURVIVAL)
    game.board, game.hand = parse_board("..../.3../..R./...."), (1, 2, 4, 6)
    game.stage([(4, 6)])
    seat = session(recorder, game)
    seat.chosen = 2
    seat._show([])
    rows = [text for text in recorder.lines() if "│" in text]
    assert rows[1].startswith(" 2 │ (2) │  3  │ [4] │     │")
    assert rows[2].startswith(" 3 │     │ (2) │▒▒R▒▒│     │")


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({}, "en"),
        ({"LANG": "pl_PL.UTF-8"}, "pl"),
        ({"LANG": "he_IL.UTF-8"}, "he"),
        ({"LANG": "iw_IL"}, "he"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "pl_PL.UTF-8", "LC_ALL": "tr_TR.UTF-8"}, "tr"),
        ({"LANG": "pl_PL.UTF-8", "LC_MESSAGES": "he_IL.UTF-8"}, "he"),
        ({"LANG": "pl_PL.UTF-8", "LANGUAGE": "de:tr:he"}, "tr"),
        ({"LANG": "C.UTF-8", "LANGUAGE": "tr"}, "en"),
        ({"LC_ALL": "C", "LANG": "pl_PL.UTF-8"}, "en"),
        ({"LANG": "nonsense@"}, "en"),
    ],
)
def test_the_language_is_that_of_the_locale(
    environment: dict[str, str], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert preferred() == code


@pytest.mark.parametrize(
    ("code", "encoding", "yes"),
    [
        ("en", "ascii", True),
        ("pl", "ascii", False),
        ("pl", "iso8859-2", True),
        ("tr", "iso8859-9", True),
        ("tr", "latin-1", False),
        ("he", "iso8859-8", True),
        ("he", "cp1252", False),
        ("he", "utf-8", True),
    ],
)
def test_a_language_is_spoken_where_its_letters_can_be_shown(
    code: str, encoding: str, yes: bool
) -> None:
    assert speakable(code, encoding) == yes


def test_signs_of_our_own_are_written_plainer_where_they_are_missing() -> None:
    said = "“b2” · … – ✓ „x” é"
    assert said.encode("ascii", "magsim.plainer") == b'"b2" - ... - * "x" ?'


@pytest.mark.parametrize("code", FOREIGN)
@pytest.mark.parametrize("encoding", ["iso8859-2", "iso8859-9", "iso8859-8", "cp1255", "utf-8"])
def test_what_is_spoken_can_be_written(code: str, encoding: str) -> None:
    tongue = Tongue(code)
    if speakable(code, encoding):
        for message in catalogue(code):
            for text in forms(message) if message.id else ():
                said = tongue.line(f"{text} {tongue.notation('3 b2')}")
                assert b"?" not in said.replace("?", "").encode(encoding, "magsim.plainer")


def test_a_long_name_is_cut_inside_its_isolate() -> None:
    recorder = Recorder("he")
    recorder.screen.boards(["x" * 60, "ab"], [parse_board("1111/2222/3333/4444")] * 2)
    recorder.screen.tell(recorder.tongue.say("Nothing has changed: {error}", error="/" + "y" * 99))
    shown = recorder.lines()
    assert "x" * 24 + "…" in shown[0]
    for text in shown:
        assert text.count("\u2066") + text.count("\u2067") == text.count("\u2069")
