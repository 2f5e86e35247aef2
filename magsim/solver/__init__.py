"""Perfect play, computed exactly: classes of boards, and their values by backward induction."""
