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
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text("utf-8")
    assert re.search(r'^  version: "(.*)"$', recipe, re.M)[1] == version


def test_recipe_says_what_the_package_says() -> None:
    """As conda's own builder reads it, which refuses fields and values that it does not know."""
    rattler_build = pytest.importorskip("rattler_build", reason="no py-rattler-build")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text("utf-8")
    read = rattler_build.Stage0Recipe.from_yaml(recipe)
    (variant,) = read.render(rattler_build.VariantConfig())
    said = variant.recipe.to_dict()
    needed = {d.lower().replace(">=", " >=") for d in project["dependencies"]}
    assert set(said["requirements"]["run"]) == needed | {f"python {project['requires-python']}"}
    scripts = [f"{name} = {where}" for name, where in project["scripts"].items()]
    assert said["build"]["python"]["entry_points"] == scripts
    assert said["build"]["noarch"] == "python"
    assert said["about"]["summary"] == project["description"]
    assert said["about"]["license"] == project["license"]
    with pytest.raises(rattler_build.RattlerBuildError):
        rattler_build.Stage0Recipe.from_yaml(recipe.replace("requirements:", "requires:"))


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
