"""The Tracker's inner loops, one part a file; ``rounds.py`` puts them together.

    predict   deviations → kinds → clip → rules → top rule
    learn     rules, top rule; moments → solve → kinds; season, past, own errors
    restart   where all this is out of proportion to what comes

``layout.py`` says where each part keeps what it remembers, ``memory.py`` where all that
lies, and ``entry.py`` is the one kernel that Python calls.
"""
