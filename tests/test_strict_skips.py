"""The hook of conftest.py: where all tests are to run, a skip is a failure."""

from pathlib import Path

import pytest

SKIPS = """
    import pytest

    def test_runs():
        assert True

    def test_needs_a_package():
        pytest.skip("needs the system package postgresql")

    @pytest.mark.skip(reason="needs a browser")
    def test_marked():
        raise AssertionError

    def test_needs_the_data():
        pytest.skip("the data are not there: ../shared/data")

    @pytest.mark.xfail(strict=True, reason="known")
    def test_expected_failure():
        raise AssertionError
"""
MISSING_MODULE = """
    import pytest

    pytest.importorskip("a_module_that_is_nowhere")

    def test_never_reached():
        raise AssertionError
"""


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Give a directory with our conftest.py and two test modules, and nothing of the outer run."""
    monkeypatch.delenv("SOFTLABEL_REQUIRE_ALL", raising=False)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makeconftest((Path(__file__).parent / "conftest.py").read_text(encoding="utf-8"))
    pytester.makepyfile(test_skips=SKIPS, test_missing=MISSING_MODULE)
    return pytester


def test_skips_stay_skips_for_a_newcomer(inner: pytest.Pytester) -> None:
    result = inner.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, skipped=4, xfailed=1)
    assert result.ret == pytest.ExitCode.OK


def test_skips_fail_where_all_is_required(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOFTLABEL_REQUIRE_ALL", "1")
    result = inner.runpytest_subprocess("-p", "no:cacheprovider", "--continue-on-collection-errors")
    # A skip inside a test is a failure; a module or a test that never started is an error.
    result.assert_outcomes(passed=1, failed=1, errors=2, skipped=1, xfailed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*may not be skipped*needs the system package postgresql*"])
