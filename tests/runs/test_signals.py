"""Signals that come while a checkpoint is written."""

import os
import signal

import pytest

from thalweg.runs.signals import StoppedError, StopSignal


@pytest.mark.parametrize("waiting", [True, False])
def test_a_signal_during_a_checkpoint_takes_effect_after_it(waiting):
    saved = []

    def save_while_a_signal_comes(stop):
        with stop.defer_interrupt():
            os.kill(os.getpid(), signal.SIGTERM)
            saved.append(True)

    with StopSignal() as stop:
        if waiting:
            with pytest.raises(StoppedError), stop.allow_interrupt():
                save_while_a_signal_comes(stop)
        else:
            save_while_a_signal_comes(stop)
        assert saved and stop.exit_code == 128 + signal.SIGTERM
