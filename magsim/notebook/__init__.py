"""Boards, games and runs for notebooks and scripts, which show themselves; see ``magsim``."""
