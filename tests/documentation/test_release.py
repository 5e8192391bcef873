"""What a release is made of says one version, and the wheel has all files that are needed."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import pygpu

ROOT = Path(__file__).parents[2]


def test_version_is_the_same_everywhere() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert pygpu.__version__ == version
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.search(r"^version: (.*)$", citation, re.M)[1] == version
    recipe = (ROOT / "packaging/conda/meta.yaml").read_text("utf-8")
    assert re.search(r'set version = "(.*)"', recipe)[1] == version


def test_recipe_asks_for_what_the_package_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    recipe = (ROOT / "packaging/conda/meta.yaml").read_text("utf-8")
    asked = set(re.findall(r"^    - (\S+ \S+)$", recipe, re.M)) - {"python >=3.11"}
    assert asked == {d.lower().replace(">=", " >=") for d in project["dependencies"]}


def test_wheel_has_all_files(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="no hatchling to build with")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    there = set(zipfile.ZipFile(wheel).namelist())
    files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "pygpu").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files <= there
