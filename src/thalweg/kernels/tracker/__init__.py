"""The Tracker's inner loops, one part a file; ``rounds.py`` puts them together.

    predict   deviations → kinds → clip → rules → top rule
    learn     rules, top rule; moments → solve → kinds; season, past, own errors

``layout.py`` says where each part keeps what it remembers.
"""
