"""The package as an object: its names, what importing it loads, what it ships, what its files may not say."""

import importlib
import importlib.metadata
import importlib.resources
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import softlabel

ROOT = Path(__file__).parents[1]

PUBLIC = {
    "Basis",
    "Checkup",
    "Comparison",
    "DataError",
    "Diagnosis",
    "Estimate",
    "InputError",
    "Plan",
    "ScoreReport",
    "Scores",
    "SoftlabelError",
    "SourceChanged",
    "SourceError",
    "StateError",
    "__version__",
    "adaptive_attenuation",
    "attenuation",
    "check",
    "compare",
    "confident",
    "datasets",
    "diagnose",
    "hard",
    "plan",
    "score",
    "simulate",
    "soft",
    "supervised",
}

# Each costs more to import than all of `import softlabel` may take; they are imported where they are used.
NOT_AT_IMPORT = (
    "duckdb",
    "matplotlib",
    "numba",
    "pandas",
    "polars",
    "pyarrow.dataset",
    "pyspark",
    "scipy.stats",
    "sklearn",
    "statsmodels",
)


def _modules() -> list[str]:
    """Every module of the package but `__main__`, which runs when it is imported."""
    found = pkgutil.walk_packages(softlabel.__path__, prefix="softlabel.")
    return sorted({"softlabel", *(m.name for m in found if not m.name.endswith("__main__"))})


def _defines_public_names(module: ModuleType) -> bool:
    return any(
        not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
        for name, value in vars(module).items()
    )


def test_public_names() -> None:
    assert set(softlabel.__all__) == PUBLIC


@pytest.mark.parametrize("name", _modules())
def test_declared_names_exist(name: str) -> None:
    module = importlib.import_module(name)
    declared = getattr(module, "__all__", None)
    if declared is None:
        assert not _defines_public_names(module), f"{name} has public names and no __all__"
        return
    assert len(declared) == len(set(declared)), f"{name}.__all__ names something twice"
    missing = [each for each in declared if not hasattr(module, each)]
    assert missing == [], f"{name}.__all__ names what is not there"


def test_import_loads_nothing_heavy() -> None:
    program = f"import sys, softlabel; print(*(m for m in {NOT_AT_IMPORT!r} if m in sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


def test_version_is_the_same_everywhere() -> None:
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert softlabel.__version__ == stated
    assert importlib.metadata.version("softlabel") == stated
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (\S+)$", citation, flags=re.MULTILINE) == [stated]


def test_types_are_shipped() -> None:
    assert importlib.resources.files("softlabel").joinpath("py.typed").is_file()


# ------------------------------------------------------------------------------------- tracked files

# Written so that no pattern matches its own line.
REGISTRY = re.compile(
    r"pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|anaconda\.org|deb\.debian\.org|"
    r"index[-_]url|--regist[r]y|https?://[^\s\"']+\.(?:whl|tar\.gz|tgz)\b"
)
# A path into somebody's home or workspace, not `docs/home/` nor a part of a web address.
MACHINE_PATH = re.compile(r"(?<![\w./~-])/(?:home|Users|root|work|farm|tmp|mnt|opt)/\w|\b[A-Z]:\\Users\\")


def _tracked() -> list[Path]:
    try:
        run = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout, or no git: the tracked files are not known")
    return [ROOT / name for name in run.stdout.split("\0") if name and (ROOT / name).is_file()]


def _lines_matching(pattern: re.Pattern[str]) -> list[str]:
    found = []
    for path in _tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:  # an image, or compressed data
            continue
        name = path.relative_to(ROOT).as_posix()
        lines = enumerate(text.splitlines(), start=1)
        found += [f"{name}:{number}: {line.strip()}" for number, line in lines if pattern.search(line)]
    return found


def test_tracked_files_name_no_registry() -> None:
    assert _lines_matching(REGISTRY) == []


def test_tracked_files_name_no_path_of_a_machine() -> None:
    assert _lines_matching(MACHINE_PATH) == []


def test_no_lock_file_is_tracked() -> None:
    assert [path.name for path in _tracked() if path.name == "uv.lock"] == []


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (REGISTRY, "see https://py" + "pi.org/project/numpy"),
        (REGISTRY, "pip install --index" + "-url=x"),
        (REGISTRY, "https://example.com/a" + ".whl"),
        (MACHINE_PATH, "open('/home" + "/ann/data.csv')"),
        (MACHINE_PATH, "cd /work" + "/main"),
    ],
)
def test_the_patterns_catch_what_they_are_for(pattern: re.Pattern[str], line: str) -> None:
    assert pattern.search(line)


@pytest.mark.parametrize(
    "line",
    ["docs/home/index.md", "https://example.com/home/x", "src/softlabel/report.py", "#!/usr/bin/env bash"],
)
def test_the_patterns_let_the_rest_through(line: str) -> None:
    assert not REGISTRY.search(line)
    assert not MACHINE_PATH.search(line)


def test_constraints_pin_versions_and_nothing_else() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.+!]*", line)] == []
    assert not any(line.lower().startswith("softlabel==") for line in lines)
