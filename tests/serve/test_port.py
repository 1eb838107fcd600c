"""The port of ``thalweg serve``."""

import socket

import pytest

from thalweg.errors import StorageError
from thalweg.serve.server import open_port


def test_answers_do_not_wait_for_acknowledgements():
    with open_port("127.0.0.1", 0) as listener:
        with socket.create_connection(listener.getsockname()):
            accepted, _ = listener.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_that_is_taken_is_named():
    with open_port("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(StorageError, match=f"port {port} of 127.0.0.1 cannot be"):
            open_port("127.0.0.1", port)
