"""The examples of the documentation."""

import doctest

import tilewright


def test_examples_print_what_they_say():
    result = doctest.testmod(tilewright)
    assert result.attempted > 10 and result.failed == 0
