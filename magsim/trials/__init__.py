"""Trials of bots: checks whether one is fit to play, matches of two, a first bot to begin with."""
