"""The control link between any descriptors."""

import os
import resource
import socket

import pytest

from ambergate.channels.link import Link


def test_descriptors_beyond_what_select_can_watch():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1100:
        pytest.skip("this machine allows no descriptor above 1024")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1100), hard))
    opened = []
    try:
        while not opened or opened[-1] < 1030:
            opened.append(os.open(os.devnull, os.O_RDONLY))
        near, far = (Link(end) for end in socket.socketpair())
        assert near.fileno() > 1024
        assert near.send("hello")
        assert far.receive(timeout_s=5.0) == [("hello", [])]
        assert far.receive(timeout_s=0.01) == []
        near.close()
        assert far.receive(timeout_s=5.0) is None
        far.close()
    finally:
        for descriptor in opened:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_sending_on_a_closed_link_says_so():
    near, far = (Link(end) for end in socket.socketpair())
    far.close()
    assert not near.send("lost")
    near.close()
    assert not near.send("lost")
