"""The runner: one answer whatever the workers, interrupts and restarts."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest

from softlabel.errors import DataError, InputError, SourceError, StateError
from softlabel.simulate import PaperDesign, replicate_one, run
from softlabel.simulate.replication import experiment_name

# Workers import what they run, and a test module is not importable: these live in a file of their own.
EXPERIMENTS = '''
import os

import numpy as np


def blas(rng):
    """Large enough for BLAS to use threads, whose sums differ in the last bits."""
    x = rng.standard_normal((400, 300))
    value = float(np.linalg.norm(x.T @ x @ x.T))
    return {"value": value, "second": None if rng.random() < 0.2 else rng.random()}


def failing(rng, at):
    value = rng.random()
    if value > at:
        raise ArithmeticError(f"no root at {value:.3f}")
    return {"value": value}


def dying(rng):
    os._exit(3)


def slow(rng):
    import time
    time.sleep(0.02)
    return {"value": rng.random()}
'''


@pytest.fixture(scope="module")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("experiments")
    (folder / "softlabel_test_experiments.py").write_text(EXPERIMENTS)
    sys.path.insert(0, str(folder))
    import softlabel_test_experiments  # type: ignore[import-not-found]

    yield softlabel_test_experiments
    sys.path.remove(str(folder))
    del sys.modules["softlabel_test_experiments"]


def toy(rng: np.random.Generator) -> dict[str, float | None]:
    value = rng.standard_normal()
    return {"value": value, "positive": value if value > 0 else None}


class Counting:
    """An experiment that remembers its calls and can be interrupted at one of them."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.calls, self.stop_at = 0, stop_at

    def __call__(self, rng: np.random.Generator) -> dict[str, float | None]:
        self.calls += 1
        if self.calls == self.stop_at:
            raise KeyboardInterrupt
        return toy(rng)


# ----------------------------------------------------------------------------------------- the stream


def test_every_replication_has_its_own_seed_sequence() -> None:
    found = run(toy, 5, seed=3)
    expected = [np.random.default_rng(np.random.SeedSequence(3, spawn_key=(i,))).standard_normal() for i in range(5)]
    assert found.column("value") == tuple(expected)
    assert found.names == ("value", "positive")
    assert found.missing("positive") == sum(value <= 0 for value in expected)
    assert found.seed == 3
    assert found == run(toy, 5, seed=3)
    assert found.rows != run(toy, 5, seed=4).rows
    assert run(toy, 8, seed=3).rows[:5] == found.rows


def test_the_same_bits_for_any_number_of_workers(experiments: ModuleType, tmp_path: Path) -> None:
    one = run(experiments.blas, 24, seed=1)
    two = run(experiments.blas, 24, seed=1, workers=2, resume=tmp_path / "two.jsonl")
    three = run(experiments.blas, 24, seed=1, workers=3)
    assert one == two == three
    assert one.missing("second") > 0
    # And from the file, and one at a time.
    assert run(experiments.blas, 24, seed=1, resume=tmp_path / "two.jsonl") == one
    alone = replicate_one(experiments.blas, seed=1, index=17)
    assert tuple(alone.values()) == one.rows[17]


def test_libraries_run_on_one_thread() -> None:
    from threadpoolctl import threadpool_info

    def threads(_: np.random.Generator) -> dict[str, float]:
        return {"most": max(library["num_threads"] for library in threadpool_info())}

    assert run(threads, 3).column("most") == (1.0, 1.0, 1.0)
    assert replicate_one(threads, 0, 0) == {"most": 1.0}


# ------------------------------------------------------------------------------- interrupt and resume


def test_interrupt_and_resume_is_one_run(tmp_path: Path) -> None:
    whole = run(Counting(), 40, seed=2)
    path = tmp_path / "run.jsonl"
    first = Counting(stop_at=14)
    with pytest.raises(KeyboardInterrupt):
        run(first, 40, seed=2, resume=path)
    assert len(path.read_text().splitlines()) == 1 + 13  # what finished is kept, the chunk cut short
    second = Counting()
    assert run(second, 40, seed=2, resume=path) == whole
    assert second.calls == 40 - 13
    # More replications extend the file, fewer read its beginning.
    third = Counting()
    longer = run(third, 50, seed=2, resume=path)
    assert third.calls == 10
    assert longer == run(Counting(), 50, seed=2)
    fourth = Counting()
    assert run(fourth, 7, seed=2, resume=path).rows == whole.rows[:7]
    assert fourth.calls == 0


def test_a_half_written_line_is_done_again(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    whole = run(toy, 4, resume=path)
    content = path.read_bytes()
    end = len(content)
    for cut in [*range(0, end, 9), *range(end - 9, end + 1)]:  # the file as a crash may leave it
        path.write_bytes(content[:cut])
        assert run(toy, 4, resume=path) == whole
        assert path.read_bytes() == content
    # Whole again also means that no finished replication was repeated needlessly.
    path.write_bytes(content[:-5])
    counted = Counting()
    path.write_bytes(path.read_bytes().replace(experiment_name(toy).encode(), experiment_name(counted).encode()))
    run(counted, 4, resume=path)
    assert counted.calls == 1


def test_a_file_of_another_run_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    run(toy, 3, seed=1, resume=path)
    before = path.read_bytes()
    with pytest.raises(StateError, match="to hold seed 2; found seed 1"):
        run(toy, 3, seed=2, resume=path)
    with pytest.raises(StateError, match=r"experiment '.*Counting'; found experiment '.*toy'"):
        run(Counting(), 3, seed=1, resume=path)
    path.write_bytes(before.replace(b'"version": "', b'"version": "9'))
    with pytest.raises(StateError, match="to hold version"):
        run(toy, 3, seed=1, resume=path)
    path.write_bytes(before)
    assert run(toy, 3, seed=1, resume=path).replications == 3
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [
        b"x,y\n1,2\n",
        b"a line without an end",
        b'{"softlabel": "diagnosis"}\n',
        b"[1]\n",
        b"\xff\xfe\n",
    ],
)
def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "precious.csv"
    path.write_bytes(content)
    with pytest.raises(StateError, match="not a Monte Carlo record"):
        run(toy, 3, resume=path)
    assert path.read_bytes() == content


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    run(toy, 3, resume=path)
    head, *lines = path.read_text().splitlines(keepends=True)
    path.write_text(head + lines[0][:-9] + "\n" + lines[1])
    with pytest.raises(StateError, match="line 2 that is no finished replication"):
        run(toy, 3, resume=path)
    other = json.loads(lines[1])
    other["v"]["value"] += 1
    path.write_text(head + "".join(lines) + json.dumps(other) + "\n")
    with pytest.raises(StateError, match="line 5 that contradicts an earlier one"):
        run(toy, 3, resume=path)
    # The same line twice is harmless: two runs that wrote to one file agree.
    path.write_text(head + "".join(lines) + lines[1])
    assert run(toy, 3, resume=path) == run(toy, 3)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="to read and write"):
        run(toy, 3, resume=tmp_path / "nowhere" / "run.jsonl")
    with pytest.raises(SourceError, match="directory"):
        run(toy, 3, resume=tmp_path)


def test_a_real_interrupt_keeps_what_both_workers_finished(experiments: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(Path(experiments.__file__ or '').parent)!r})\n"
        "import softlabel_test_experiments as e\n"
        "from softlabel.simulate import run\n"
        "if __name__ == '__main__':\n"
        f"    run(e.slow, 100_000, seed=4, workers=2, resume={str(path)!r})\n"
    )
    process = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (path.exists() and path.read_bytes().count(b"\n") > 60):
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does: parent and workers alike
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert errors.count("Traceback") == 1  # no worker adds its own
    finished = path.read_bytes().count(b"\n") - 1
    assert 60 <= finished < 100_000
    resumed = run(experiments.slow, finished, seed=4, resume=path)
    some = [0, finished // 2, finished - 1]
    assert [resumed.rows[i] for i in some] == [tuple(replicate_one(experiments.slow, 4, i).values()) for i in some]


# --------------------------------------------------------------------------------------- what may fail


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failing_replication_is_named_and_the_others_are_kept(
    experiments: ModuleType, tmp_path: Path, workers: int
) -> None:
    experiment = partial(experiments.failing, at=0.9)
    values = [np.random.default_rng(np.random.SeedSequence(6, spawn_key=(i,))).random() for i in range(60)]
    first = next(i for i, value in enumerate(values) if value > 0.9)
    path = tmp_path / "run.jsonl"
    with pytest.raises(DataError) as caught:
        run(experiment, 60, seed=6, workers=workers, resume=path)
    message = str(caught.value)
    assert f"replication {first} of seed 6 to finish" in message
    assert f"ArithmeticError: no root at {values[first]:.3f}" in message
    assert f"replicate_one(experiment, seed=6, index={first})" in message
    assert "in failing" in caught.value.__notes__[0]  # the traceback, down to the user's line
    with pytest.raises(ArithmeticError):
        replicate_one(experiment, seed=6, index=first)
    kept = [json.loads(line)["i"] for line in path.read_text().splitlines()[1:]]
    assert set(range(first)) <= set(kept)
    assert first not in kept


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"x": float("nan")}, r"x to be a finite number or None; found nan"),
        ({"x": float("inf")}, r"found inf"),
        ({"x": "many"}, r"found 'many'"),
        ({}, "a mapping from names to numbers"),
        (1.0, "a mapping from names to numbers"),
        ({3: 1.0}, "a mapping from names to numbers"),
    ],
)
def test_values_that_are_no_numbers(value: object, message: str) -> None:
    def experiment(_: np.random.Generator) -> object:
        return value

    with pytest.raises(DataError, match=message) as caught:
        run(experiment, 2)  # type: ignore[arg-type]
    assert "replication 0 of seed 0" in str(caught.value)


def test_numbers_of_every_kind_become_floats() -> None:
    def experiment(_: np.random.Generator) -> dict[str, float | None]:
        return {"int": 3, "numpy": np.float32(0.5), "bool": np.True_, "array": np.array(2.0), "none": None}  # type: ignore[dict-item]

    row = run(experiment, 1).rows[0]
    assert row == (3.0, 0.5, 1.0, 2.0, None)
    assert [type(value) for value in row[:4]] == [float] * 4


class Changing:
    """Returns other names the third time."""

    calls: ClassVar[list[int]] = []

    def __call__(self, _: np.random.Generator) -> dict[str, float]:
        return {"x": 1.0} if self.calls.pop() else {"y": 1.0}


def test_names_must_not_change(tmp_path: Path) -> None:
    experiment = Changing()
    experiment.calls[:] = [0, 1, 1]
    with pytest.raises(DataError, match="the names x; found replication 2 with y"):
        run(experiment, 3, resume=tmp_path / "run.jsonl")
    assert (tmp_path / "run.jsonl").read_text().count('"y"') == 0


def test_a_dead_worker(experiments: ModuleType) -> None:
    with pytest.raises(DataError, match="every worker process to live"):
        run(experiments.dying, 4, workers=2)


def test_experiments_that_workers_cannot_import(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="other processes can import"):
        run(lambda rng: {"x": rng.random()}, 4, workers=2)
    session = partial(toy)
    monkeypatch.setattr(toy, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "toy", toy, raising=False)
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    with pytest.raises(InputError, match="an interactive session"):
        run(session, 4, workers=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: run(toy, 0), "replications to be a whole number, at least 1"),
        (lambda: run(toy, 2.0), "replications to be a whole number"),  # type: ignore[arg-type]
        (lambda: run(toy, 2, workers=0), "workers to be a whole number, at least 1"),
        (lambda: run(toy, 2, seed=-1), "seed to be a whole number, at least 0"),
        (lambda: replicate_one(toy, 0, -1), "index to be a whole number"),
    ],
)
def test_wrong_calls(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


# ------------------------------------------------------------------------------------------ the name


def test_names_tell_experiments_apart() -> None:
    here = __name__
    assert experiment_name(toy) == f"{here}.toy"
    bound: partial[object] = partial(dict, (), b="x", a=2)  # any callable will do
    assert experiment_name(bound) == "partial(builtins.dict, (), a=2, b='x')"
    assert experiment_name(Counting()) == f"{here}.Counting"  # no address, which changes every time
    design = PaperDesign(sigma_u=0.4)
    assert experiment_name(design) == f"softlabel.simulate.paper.{design!r}"
    assert experiment_name(design.sample) == f"softlabel.simulate.paper.{design!r}.sample"
    assert experiment_name(PaperDesign(0.2).sample) != experiment_name(PaperDesign(0.3).sample)


def test_an_experiment_without_a_name_of_its_own_cannot_be_resumed(tmp_path: Path) -> None:
    # Two of them would share a name, and the second would be given the first one's results.
    def local(rng: np.random.Generator) -> dict[str, float]:
        return {"value": rng.random()}

    for nameless in (local, lambda rng: {"value": rng.random()}, partial(local)):
        assert run(nameless, 2, seed=1).replications == 2
        with pytest.raises(InputError, match="top level"):
            run(nameless, 2, seed=1, resume=tmp_path / "ledger.jsonl")
    assert not (tmp_path / "ledger.jsonl").exists()
