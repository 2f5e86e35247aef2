"""From records to estimates with intervals: everything that a report says is computed here.

Records are read lazily or part by part; only aggregates are kept, so memory does not grow with the
number of games.
"""
