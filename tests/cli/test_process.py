"""The command line as a process of its own: pipes, full disks, terminals."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROLES = ["--outcome", "days", "--group", "g", "--score", "p", "--controls", "age", "frailty"]
Run = Callable[..., tuple[int, str, str]]
PROGRAM = [sys.executable, "-c", "import sys; from softlabel.cli import main; sys.exit(main())"]


def _process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([*PROGRAM, *arguments], text=True, check=False, **streams)


def test_a_process_speaks_as_main_does(run: Run, visits: str) -> None:
    done = _process("diagnose", visits, *ROLES)
    assert (done.returncode, done.stdout, done.stderr) == run("diagnose", visits, *ROLES)
    wrong = _process("diagnose", visits, "--outcome", "dayz", "--score", "p")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == run("diagnose", visits, "--outcome", "dayz", "--score", "p")[2]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("command", [["diagnose", "FILE", *ROLES, "--json", "-"], ["--help"]], ids=["json", "help"])
def test_a_reader_that_has_gone_is_no_error(visits: str, command: list[str]) -> None:
    # As `| head -1` may do, but surely: nobody holds the other end when the first line is written.
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = _process(*(visits if part == "FILE" else part for part in command), stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_output_to_a_full_disk_is_one_paragraph(visits: str) -> None:
    with Path("/dev/full").open("w", encoding="ascii") as full:
        done = _process("diagnose", visits, *ROLES, stdout=full)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "No space left on device" in done.stderr


def test_a_name_that_the_terminal_cannot_show_is_no_traceback(table: Callable[..., pa.Table], tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    pq.write_table(table().rename_columns(["days", "g", "p", "âge", "frailty"]), path)
    options = ["--outcome", "days", "--score", "p", "--controls", "âge"]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = _process("diagnose", str(path), *options, env=ascii_only)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_the_version_to_a_full_disk_is_one_paragraph_too() -> None:
    with Path("/dev/full").open("w", encoding="ascii") as full:
        done = _process("--version", stdout=full)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors of POSIX")
def test_a_process_without_a_stdout_is_no_traceback(visits: str) -> None:
    # As `>&-` leaves it; services start programs so.
    done = _process("diagnose", visits, *ROLES, stdout=None, preexec_fn=lambda: os.close(1))
    assert "Traceback" not in done.stderr
    assert done.returncode == 0


def test_a_process_that_stops_on_a_csv_file_ends_by_itself(tmp_path: Path) -> None:
    # Arrow reads ahead on threads of its own: one that were inside Python when the program ends would abort it.
    rows = "".join(f"{i % 7},{(i % 10) / 10},{i % 2}\n" for i in range(60_000))
    path = tmp_path / "late.csv"
    path.write_text("y,p,g\n" + rows * 3 + "1,1.5,0\n")
    done = [_process("diagnose", str(path), "--outcome", "y", "--score", "p", "--group", "g") for _ in range(4)]
    assert [one.returncode for one in done] == [1] * 4
    assert all("to lie in [0, 1]" in one.stderr and "abort" not in one.stderr for one in done)
