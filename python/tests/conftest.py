# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures of several tests."""

import pytest


class Exchanged:
    """Has nothing but DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.fixture
def exchanged():
    """Makes an object with nothing but DLPack of an array."""
    return Exchanged
