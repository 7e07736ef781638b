"""PyTorch logs thousands of traces while it exports, which pytest would format for its reports."""

import logging

import pytest


@pytest.fixture(autouse=True)
def no_logs():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
