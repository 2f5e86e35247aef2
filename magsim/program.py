"""Bots that are programs of their own, in any language: one JSON object a line, asked and answered.

The protocol is described in ``bots/programs.md``. A program is started when it is asked first, once
in each process that plays, and is told the rules before its first position and whenever they
change.
"""

import contextlib
import dataclasses
import json
import math
import os
import reprlib
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from magsim.board import NotationError, format_board, format_dice
from magsim.bot import BadAnswer, Bot, Position, option
from magsim.decision import Decision, parse_decision
from magsim.errors import MagsimError
from magsim.rules import Rules

PREFIX = "cmd:"
"""What the spec of such a bot begins with."""
PROTOCOL = 1
_LONGEST = 1 << 16
"""Bytes of a line, more than any answer takes, and of what is kept of standard error."""
_LAST_WORDS = 200
_PATIENCE = 1.0
"""Seconds that a program may take to end by itself."""


class _Process:
    """A program that runs, and the lines to and from it."""

    def __init__(self, words: list[str]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the program
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=self._errors)
        except OSError as error:
            raise BadAnswer(f"cannot be started: {error.strerror or error}") from error

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """What the program answers.

        Raises:
            BadAnswer: if it has ended, or answers with anything but one JSON object.
        """
        writer, reader = self._process.stdin, self._process.stdout
        assert writer is not None
        assert reader is not None
        if os.fstat(self._errors.fileno()).st_size > _LONGEST:
            self._errors.seek(0)  # for the program, too, which writes where this file stands
            self._errors.truncate()
        try:
            writer.write(json.dumps(question).encode() + b"\n")
            writer.flush()
        except BrokenPipeError:
            raise self._ended() from None
        line = self._line(reader)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            raise BadAnswer(f"answered {reprlib.repr(line)}, which is no JSON") from None
        if not isinstance(answer, dict):
            raise BadAnswer(f"answered {reprlib.repr(line)}, which is no JSON object")
        if "error" in answer:
            raise BadAnswer(f"gave up: {reprlib.repr(answer['error'])}")
        return answer

    def _line(self, reader: IO[bytes]) -> str:
        line = reader.readline(_LONGEST)
        if not line:
            raise self._ended()
        if not line.endswith(b"\n"):
            if len(line) < _LONGEST:
                raise self._ended()
            raise BadAnswer(f"answered a line of more than {_LONGEST} bytes")
        return line.decode(errors="replace").strip()

    def _ended(self) -> BadAnswer:
        """The sentence that says how the program ended, and its last words."""
        try:
            code = self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            return BadAnswer("closed its standard output")
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        self._errors.seek(0)
        words = self._errors.read().decode(errors="replace").strip().splitlines()
        last = f" ({words[-1][:_LAST_WORDS]})" if words else ""
        return BadAnswer(f"ended with {how}{last}")

    def close(self) -> None:
        """End the program, by the end of its input or else by force."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the program by force."""
        self._process.kill()
        self._process.wait()


class Program(Bot):
    """Asks a program for every decision."""

    command: str = option("", "the program and its arguments")

    def __post_init__(self) -> None:
        self._process: _Process | None = None
        self._rules: Rules | None = None
        self._asked = 0

    def prepare(self, rules: Rules) -> None:
        """Start the program, if it does not run, and tell it the rules."""
        self._shake_hands(rules)

    def decide(self, position: Position) -> Decision:
        """What the program answers."""
        process = self._shake_hands(position.rules)
        self._asked += 1
        question = {
            "id": self._asked,
            "board": format_board(position.board),
            "dice": format_dice(position.dice),
            "powers": position.powers_left,
            "key": str(self.random.getrandbits(64)),
        }
        with self._fatal():
            answer = process.ask(question)
            if answer.get("id") != self._asked:
                found = reprlib.repr(answer.get("id"))
                raise BadAnswer(f"answered question {found} when it was asked {self._asked}")
            return _decision(answer)

    def _shake_hands(self, rules: Rules) -> _Process:
        """The program, running and told the rules."""
        with self._fatal():
            if self._process is None:
                self._process, self._rules = _Process(shlex.split(self.command)), None
            if self._rules != rules:
                values = dataclasses.asdict(rules) | {"power_costs": list(rules.power_costs)}
                answer = self._process.ask({"magsim": PROTOCOL, "rules": values})
                if answer.get("magsim") != PROTOCOL:
                    raise BadAnswer(f"does not speak protocol {PROTOCOL}: it answered {answer}")
                self._rules = rules
            return self._process

    @contextlib.contextmanager
    def _fatal(self) -> Iterator[None]:
        """Whatever goes wrong in the body, a time limit as well, ends the program."""
        try:
            yield
        except BaseException:
            if self._process is not None:
                self._process.kill()
                self._process = None
            raise

    def __del__(self) -> None:
        if self._process is not None:
            self._process.close()


def program_bot(text: str) -> Program:
    """The bot of a spec that begins with ``PREFIX``; its ``spec`` has its words well quoted.

    Raises:
        MagsimError: if the spec names no program that can be run.
    """
    words = _words(text)
    bot = Program(shlex.join(words))
    bot.spec = PREFIX + bot.command  # type: ignore[misc]  # of the class, lest it be an option
    return bot


def _words(text: str) -> list[str]:
    """The program of a spec and its arguments.

    Raises:
        MagsimError: if there is no such program.
    """
    try:
        words = shlex.split(text.removeprefix(PREFIX))
    except ValueError as error:
        raise MagsimError(f"bot {text!r}: its words cannot be told apart: {error}") from error
    if not words:
        raise MagsimError(f"bot {text!r}: write the program after {PREFIX}, as in cmd:./my_engine")
    if shutil.which(words[0]) is None:
        raise MagsimError(f"bot {text!r}: there is no program {words[0]!r} that can be run")
    return words


def program_fingerprint(text: str) -> str:
    """A digest of the program of a spec, and of the files among its arguments.

    Raises:
        MagsimError: if there is no such program.
    """
    program, *arguments = _words(text)
    files = [Path(shutil.which(program) or program), *map(Path, arguments)]
    digest = sha256()
    for file in files:
        if file.is_file():
            digest.update(sha256(file.read_bytes()).digest())
    return f"sha256:{digest.hexdigest()}"


def _decision(answer: dict[str, Any]) -> Decision:
    """The decision of an answer, with its estimate.

    Raises:
        BadAnswer: if there is none in it.
    """
    text, estimate = answer.get("decision"), answer.get("estimate")
    if not isinstance(text, str):
        raise BadAnswer(f"answered {reprlib.repr(answer)}, which has no text 'decision'")
    number = isinstance(estimate, int | float) and not isinstance(estimate, bool)
    if estimate is not None and not (number and math.isfinite(estimate)):
        raise BadAnswer(f"estimated {reprlib.repr(estimate)}, which is no number")
    try:
        decision = parse_decision(text)
    except NotationError as error:
        raise BadAnswer(f"answered {reprlib.repr(text)}: {error}") from error
    return dataclasses.replace(decision, estimate=estimate)
