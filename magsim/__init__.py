"""magsim: simulate MAGDAGDON, Cubiri's solitaire dice game, and measure bots that play it."""

__version__ = "0.1.0"
