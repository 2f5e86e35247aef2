"""What recorded decisions cost against perfect play, what the dice gave, and what is left of both.

Every decision is judged once; what was found is kept beside the records, part by part.
"""
