"""What the game says, in the player's language: gettext catalogues, plural forms, right to left.

The catalogues are the ``.po`` files of ``locale``, read as they are. In a language written from
right to left, text and notation are wrapped in Unicode's directional isolates, which terminals that
know of direction obey and others do not show: a board or a roll reads from left to right wherever
it stands.
"""

import codecs
import gettext
import io
import os
import re
import textwrap
from functools import cache
from importlib.resources import files

from babel import Locale, negotiate_locale
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from magsim.play import ENGLISH, LANGUAGES

_LEFT_TO_RIGHT, _RIGHT_TO_LEFT, _END = "\u2066", "\u2067", "\u2069"
_ISOLATED = re.compile(f"{_LEFT_TO_RIGHT}[^{_END}]*{_END}")
_KEPT = "\ue000"
"""Stands for a space at which no line is broken, while lines are broken."""

_PLAINER = {"“": '"', "”": '"', "„": '"', "·": "-", "…": "...", "–": "-", "✓": "*"}
_PLAINER |= {"־": "-", "״": '"', _LEFT_TO_RIGHT: "", _RIGHT_TO_LEFT: "", _END: ""}
"""Signs of our own for outputs that cannot show them."""


class Phrase(str):
    """Text in the player's language, as against notation: dice, cells, figures, names."""

    __slots__ = ()


def _read(code: str) -> Catalog:
    with (files("magsim.play") / "locale" / f"{code}.po").open("rb") as source:
        return read_po(source, locale=code)


@cache
def _catalogue(code: str) -> gettext.NullTranslations:
    """The catalogue of a language; what it does not translate is said in English."""
    if code == ENGLISH:
        return gettext.NullTranslations()
    compiled = io.BytesIO()
    write_mo(compiled, _read(code))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


def preferred() -> str:
    """The language of the locale that the environment asks for, English if it is none of ours.

    As for any program of gettext: ``LANGUAGE`` comes first, unless the locale is C.
    """
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    locale = next((value for name in names if (value := os.environ.get(name))), "C")
    if locale.partition(".")[0] in ("C", "POSIX"):
        return ENGLISH
    wanted = [code.partition(".")[0] for code in os.environ.get("LANGUAGE", "").split(":") if code]
    wanted.append(locale.partition(".")[0])
    wanted = [f"he{code[2:]}" if code.startswith("iw") else code for code in wanted]
    return (negotiate_locale(wanted, LANGUAGES) or ENGLISH).lower()


def _plainer(error: UnicodeError) -> tuple[str, int]:
    """Write plainer what an output's encoding does not have, as a codec's error handler."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_PLAINER.get(sign, "?") for sign in missing), error.end


codecs.register_error("magsim.plainer", _plainer)


def speakable(code: str, encoding: str) -> bool:
    """Whether an output of this encoding can show the letters of a language."""
    said = [] if code == ENGLISH else [str(message.string) for message in _read(code)]
    try:
        "".join(sign for sign in "".join(said) if sign.isalpha()).encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines of so many columns, at least one; isolated notation is never broken."""
    kept = _ISOLATED.sub(lambda found: found[0].replace(" ", _KEPT), text)
    lines = textwrap.wrap(kept, width, break_on_hyphens=False, break_long_words=False) or [""]
    return [line.replace(_KEPT, " ") for line in lines]


class Tongue:
    """Says messages in one language; ``code`` is one of ``LANGUAGES``."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.right_to_left = Locale.parse(code).text_direction == "rtl"

    def _filled(self, text: str, values: dict[str, object]) -> Phrase:
        shown = {
            name: value if isinstance(value, Phrase) else self.notation(str(value))
            for name, value in values.items()
        }
        return Phrase(text.format(**shown) if shown else text)

    def say(self, message: str, **values: object) -> Phrase:
        """A message with its values filled in; values that are no ``Phrase`` are notation."""
        return self._filled(_catalogue(self.code).gettext(message), values)

    def count(self, one: str, many: str, n: int, **values: object) -> Phrase:
        """A message in the form that goes with the number ``n``, which is filled in as ``{n}``."""
        text = _catalogue(self.code).ngettext(one, many, n)
        return self._filled(text, {"n": n, **values})

    def join(self, phrases: list[Phrase]) -> Phrase:
        """Phrases in a row, joined by commas."""
        return Phrase(", ".join(phrases))

    def notation(self, text: str) -> str:
        """Text that reads from left to right in every language, such as a roll or a board's row."""
        if not self.right_to_left or not text:
            return text
        return f"{_LEFT_TO_RIGHT}{text}{_END}"

    def line(self, text: str) -> str:
        """A line of text that reads in the language's direction whatever the terminal's is."""
        # Some terminals lose a sign of no width that has no cell before it.
        return f" {_RIGHT_TO_LEFT}{text}{_END}" if self.right_to_left and text else text
