"""A mixture of class probabilities, of tempered ones among them, by Bayes' rule."""

import math

import numpy as np

from thalweg.kernels.compiler.jit import kernel


@kernel(ieee_division=True)
def tempered_mixture(
    weights, count, exponents, probability, others, number, own, delay, out
):
    """Mix each row's probabilities; learn the weights from the labels due after it.

    The experts are the ``probability`` p of each class by each classifier, to the power
    of each of the exponents, divided by its sum, and then ``others``. The mixture is
    linear. After
    round t the row ``delay`` rounds earlier is due: weights are multiplied by what each
    expert gave to its class, and 1/(count+1) of all weight is shared equally.

    Shapes: weights (M,), updated in place, of the E exponents (E,) of each classifier
    and of the B others; count: labels learnt before; probability (T, G, K), others
    (T, B, K), number (T,) the row's class or -1. own (W+T, M): what the experts
    gave to the class of each row, NaN where it is not to be learnt; the first W rows
    wait for their labels, the others are filled. out (T, K). Returns the count after.
    """
    rounds, classifiers, classes = probability.shape
    powers = exponents.size
    experts = np.empty((weights.size, max(classes, 1)))
    waiting = len(own) - rounds
    for t in range(rounds):
        for g in range(classifiers):
            for e in range(powers):
                temper(probability[t, g], exponents[e], experts[g * powers + e])
        for m in range(classifiers * powers, weights.size):
            for k in range(classes):
                experts[m, k] = others[t, m - classifiers * powers, k]
        for k in range(classes):
            total = 0.0
            for m in range(weights.size):
                total += weights[m] * experts[m, k]
            out[t, k] = total
        for m in range(weights.size):
            own[waiting + t, m] = math.nan
            if 0 <= number[t] < classes and probability[t, 0, number[t]] > 0:
                own[waiting + t, m] = experts[m, number[t]]
        due = waiting + t - delay
        if due >= 0 and own[due, 0] == own[due, 0]:
            count += 1
            learn_weights(weights, own[due], 1 / (count + 1.0))
    return count


@kernel(ieee_division=True)
def temper(probability, exponent, out):
    """p_k^a / Σ_j p_j^a of probabilities (K,), 0 where p is 0."""
    total = 0.0
    for k in range(probability.size):
        out[k] = probability[k]
        if exponent != 1 and probability[k] > 0:
            out[k] = math.pow(probability[k], exponent)
        total += out[k]
    if exponent != 1 and total > 0:
        for k in range(probability.size):
            out[k] /= total


@kernel(ieee_division=True)
def learn_weights(weights, likelihood, share):
    """w_m ∝ w_m times what expert m gave to the label; then a share goes to all."""
    total = 0.0
    for m in range(weights.size):
        weights[m] *= max(likelihood[m], 1e-12)
        total += weights[m]
    for m in range(weights.size):
        weights[m] = (1 - share) * weights[m] / total + share / weights.size
