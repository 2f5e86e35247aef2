"""What Powers, openings and rescues are worth to a perfect player.

Openings come from a solution alone; the rest is weighed in the positions that a run's games met.
"""
