"""What is measured of thalweg: accuracy, speed, and figures that pages quote.

``benchmarks/README.md`` lists every script and its command.
"""
