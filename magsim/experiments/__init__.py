"""Experiments: a question in a file, played like a tournament, answered in a sentence."""
