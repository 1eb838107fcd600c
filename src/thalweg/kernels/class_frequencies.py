"""Frequencies of classes so far as probabilities of the next one."""

import numpy as np

from thalweg.kernels.compiler.jit import kernel

SHARES, RECENT_SHARES, AFTER_LAST = 0, 1, 2
"""The kinds of probabilities: shares of all labels, shares of recent labels, and shares
of the labels that followed the last known class in the past."""


@kernel
def class_frequencies(
    is_known, counts, recent_counts, transitions, discount, last, due, due_last, out
):
    """Probabilities of each row's class, from the labels known before it.

    Each is (count + ½) / (all counts + ½ K) over the K classes that have appeared, the
    estimator of Krichevsky and Trofimov; a class that has not has 0. After round t the
    label ``due[t]`` is counted, and that it followed ``due_last[t]``, the last class
    that was known when its row was predicted.

    Shapes: is_known (C,) 1 where the class has appeared, counts and recent_counts (C,),
    the latter discounted by ``discount`` with each label; transitions (C+1, C), row C
    for no class; all four are updated in place. last, due and due_last (T,) are classes
    as numbers, C where it is missing. out (T, 3, K) with K ≤ C.
    """
    classes, none = out.shape[2], counts.size
    row = np.empty(none)
    for t in range(len(due)):
        known = 0.0
        for k in range(none):
            known += is_known[k]
        for kind in range(3):
            for k in range(none):
                if kind == SHARES:
                    row[k] = counts[k]
                elif kind == RECENT_SHARES:
                    row[k] = recent_counts[k]
                else:
                    row[k] = transitions[last[t], k]
            total = 0.0
            for k in range(none):
                total += row[k]
            for k in range(classes):
                if is_known[k] == 1:
                    out[t, kind, k] = (row[k] + 0.5) / (total + 0.5 * known)
                else:
                    out[t, kind, k] = 0.0
        if due[t] == none:
            continue
        for k in range(none):
            recent_counts[k] *= discount
        is_known[due[t]] = 1.0
        counts[due[t]] += 1.0
        recent_counts[due[t]] += 1.0
        transitions[due_last[t], due[t]] += 1.0
