"""Reports: what a run shows, as one page with charts, tables and a sentence under each."""
