"""Mutation testing: small changes to the source, each of which some test has to notice.

    python -m tools.mutants             run the mutants that have no result yet
    python -m tools.mutants --report    the table of results, and the survivors
    python -m tools.mutants --list      the mutants that are drawn
    python -m tools.mutants --tier fast which of them make test alone notices; the
                                        results are kept apart

sites.py finds what can be changed in a file and draws from it, named.py has mutants
that are always run, survey.py and selection.py choose the tests of a mutant, server.py
runs them, and campaign.py goes through all mutants and keeps the results.
"""
