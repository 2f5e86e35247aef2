"""``python -m magsim`` is ``magsim``."""

from magsim.cli import main

main(prog_name="magsim")
