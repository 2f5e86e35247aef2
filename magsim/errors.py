"""Errors that a person is meant to read: one sentence each, with its exit code."""


class MagsimError(Exception):
    """Bad input or a bad file; the message names the value, the place and what is allowed."""

    exit_code = 2


class BotFault(MagsimError):
    """A bot broke the rules, raised, answered rubbish, died or never answered.

    The message names bot, difficulty, game, turn, position and decision as far as they are known.
    """

    exit_code = 3


class Lost(MagsimError):
    """Whoever did the work is gone; what is done is kept, and the same command goes on."""


def first_line(error: BaseException) -> str:
    """The first line of what an exception says."""
    return str(error).partition("\n")[0]
