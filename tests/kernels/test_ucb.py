import numpy as np

from thalweg.kernels.ucb import learn_in_window


def test_an_arm_that_left_the_window_leaves_no_rounding():
    sums, counts = np.zeros(2), np.zeros(2)
    arms, rewards = np.zeros(5), np.zeros(5)
    for t, reward in enumerate([0.1, 0.2, 0.3]):
        learn_in_window(sums, counts, arms, rewards, t, 0, reward)
    for t in range(3, 8):
        learn_in_window(sums, counts, arms, rewards, t, 1, 1.0)
        if t < 7:
            assert counts[0] > 0
    assert counts.tolist() == [0, 5]
    assert sums.tolist() == [0, 5]
