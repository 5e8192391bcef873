"""What is told to the logger "pygpu", and who imports `logging` for it."""

import subprocess
import sys

import pytest

from pygpu.core.host import log


def test_places_of_who_tells_are_named(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "pygpu"):
        log.info("measured %s", 3)
        log.warning("running on %s", "cpu")
    assert [record.getMessage() for record in caplog.records] == ["measured 3", "running on cpu"]
    assert {record.filename for record in caplog.records} == {"test_log.py"}


def test_process_without_logging_is_told_of_warnings_alone() -> None:
    code = (
        "import sys; from pygpu.core.host import log; log.info('decided'); "
        "assert 'logging' not in sys.modules; log.warning('take %s', 'care')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "take care\n"
