"""magsim: simulate MAGDAGDON, Cubiri's solitaire dice game, and measure bots that play it.

What notebooks and scripts may rely on is in ``__all__``; bots have ``magsim.bot``,
``magsim.decision`` and ``magsim.compiled.kernel``. All else may change without notice.

Nothing heavy is imported before one of these names is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from magsim.notebook.boards import Board
    from magsim.notebook.games import Game
    from magsim.notebook.runs import Run, load, play_games
    from magsim.rules import Rules

__all__ = ["Board", "Game", "Rules", "Run", "__version__", "load", "play_games"]
__version__ = "0.1.0"

_HOMES = {
    "Board": "magsim.notebook.boards",
    "Game": "magsim.notebook.games",
    "Rules": "magsim.rules",
    "Run": "magsim.notebook.runs",
    "load": "magsim.notebook.runs",
    "play_games": "magsim.notebook.runs",
}


if not TYPE_CHECKING:  # to a type checker, whatever is not imported above is not there

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
