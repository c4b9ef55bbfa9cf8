"""What every test runs under: repeatable Hypothesis examples, and no quiet skip where the machine is ours.

A test may skip where a package of the system or the data beside the checkout is missing. Where
SOFTLABEL_REQUIRE_ALL is set, as `.ci/run` does, the system packages are there, so a skip is a mistake and
fails. A skip whose reason names `../shared`, the data beside the checkout, stays a skip everywhere.
"""

import os
from collections.abc import Generator

import pytest
from hypothesis import settings

# The same examples on every machine; no deadline, for the first call of a test may compile or import.
settings.register_profile("house", derandomize=True, deadline=None)
settings.load_profile("house")


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure where all tests are to run; leave expected failures alone."""
    if not report.skipped or hasattr(report, "wasxfail") or not os.environ.get("SOFTLABEL_REQUIRE_ALL"):
        return
    # A skip is reported as (path, line, reason).
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if "../shared" not in reason:
        report.outcome = "failed"
        report.longrepr = f"SOFTLABEL_REQUIRE_ALL is set, so this may not be skipped. {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report
