"""write_whole: a whole file or none at all, and never a harmed one."""

import contextlib
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from softlabel.errors import InputError
from softlabel.report.files import write_whole


def _fine(path: Path) -> None:
    path.write_text("new", encoding="ascii")


def _fails_after_half(error: BaseException) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text("ha", encoding="ascii")
        raise error

    return write


def _listed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_it_writes(tmp_path: Path) -> None:
    for given in (tmp_path / "a.json", str(tmp_path / "b.json")):
        write_whole(given, _fine)
        assert Path(given).read_text(encoding="ascii") == "new"
    assert _listed(tmp_path) == ["a.json", "b.json"]


def test_it_replaces(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_text("old and longer", encoding="ascii")
    write_whole(target, _fine)
    assert target.read_text(encoding="ascii") == "new"


def test_the_temporary_file_is_beside_the_target_with_its_ending(tmp_path: Path) -> None:
    seen: list[Path] = []

    def write(path: Path) -> None:
        seen.append(path)
        _fine(path)

    write_whole(tmp_path / "table.parquet", write)
    assert seen[0].parent == tmp_path
    assert seen[0].suffix == ".parquet"
    assert seen[0].name.startswith("."), "hidden, so that a glob for *.parquet does not catch it"


def test_a_name_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_whole("a.json", _fine)
    assert _listed(tmp_path) == ["a.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_the_file_gets_the_permissions_of_any_new_file(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_whole(tmp_path / "a.json", _fine)
        after = os.umask(mask)
    finally:
        os.umask(before)
    assert after == mask
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("existing", [None, "old"])
@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), ValueError("no such type"), KeyboardInterrupt()], ids=repr
)
def test_a_failure_half_way_leaves_things_as_they_were(
    tmp_path: Path, error: BaseException, existing: str | None
) -> None:
    target = tmp_path / "a.json"
    if existing is not None:
        target.write_text(existing, encoding="ascii")
    with pytest.raises((InputError, type(error))) as caught:
        write_whole(target, _fails_after_half(error))
    assert _listed(tmp_path) == ([] if existing is None else ["a.json"])
    assert existing is None or target.read_text(encoding="ascii") == existing
    if isinstance(error, OSError):
        assert isinstance(caught.value, InputError)
        assert "No space left on device" in str(caught.value)
        assert str(target) in str(caught.value)
    else:
        assert caught.value is error


@pytest.mark.parametrize("name", ["missing/a.json", ".", ""])
def test_where_no_file_can_be(tmp_path: Path, name: str) -> None:
    calls: list[Path] = []
    with pytest.raises(InputError, match="Make the folder first, or name another file"):
        write_whole(tmp_path / name, calls.append)
    assert calls == [], "nothing is computed for a file that cannot be"
    assert _listed(tmp_path) == []


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old", encoding="ascii")
    with pytest.raises(InputError):
        write_whole(tmp_path / "a" / "b.json", _fine)
    assert (tmp_path / "a").read_text(encoding="ascii") == "old"


def test_a_folder_that_refuses_a_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(InputError) as caught:
        write_whole(tmp_path / "a.json", _fine)
    assert "Permission denied" in str(caught.value)
    assert "Name a file in a folder you may write to" in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_is_written_through(tmp_path: Path) -> None:
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    target.write_text("old", encoding="ascii")
    link.symlink_to(target)
    write_whole(link, _fine)
    assert link.is_symlink()
    assert target.read_text(encoding="ascii") == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are of POSIX")
def test_a_pipe_or_device_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        # To refuse it is as good as to write into it.
        with contextlib.suppress(InputError):
            write_whole(pipe, _fine)
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
