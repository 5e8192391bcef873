"""The programs of examples/arrays give what NumPy and SciPy give, at small sizes."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from conftest import require

HOME = Path(__file__).parents[2] / "examples" / "arrays"

# The sizes of each program here, and how far it may be from NumPy.
SIZES: dict[str, tuple[dict[str, int], float]] = {
    "bitonic_sort": ({"n": 256}, 0),
    "black_scholes": ({"n": 1000}, 1e-4),
    "connected_components": ({"n": 40}, 0),
    "conjugate_gradient": ({"n": 8}, 1e-5),
    "fft": ({"n": 256}, 2e-5),
    "gaussian_mixture": ({"n": 2000, "rounds": 3}, 1e-5),
    "histogram_equalisation": ({"n": 64}, 1e-6),
    "integral_image": ({"n": 40}, 5e-5),
    "kmeans": ({"n": 2000, "rounds": 3}, 1e-5),
    "lattice_boltzmann": ({"n": 24, "rounds": 20}, 2e-6),
    "motion_detection": ({"frames": 6, "n": 48}, 0),
    "multigrid": ({"n": 15}, 1e-5),
    "nbody": ({"n": 50, "rounds": 5}, 5e-6),
    "radix_sort": ({"n": 1000, "bits": 10}, 0),
    "reverb": ({"n": 2000, "tail": 100}, 2e-6),
    "saxpy": ({"n": 1000}, 1e-6),
    "sparse_products": ({"n": 200, "density": 0.05}, 5e-6),
    "svm_smo": ({"n": 30}, 1e-2),
    "volume_filters": ({"n": 8}, 1e-5),
}


def program(name: str) -> ModuleType:
    """An example, imported from its file."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", HOME / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_program_is_tested_and_listed() -> None:
    names = {path.stem for path in HOME.glob("*.py")}
    assert names == set(SIZES)
    listed = (HOME.parent / "README.md").read_text(encoding="utf-8")
    assert [name for name in sorted(names) if f"(arrays/{name}.py)" not in listed] == []


@pytest.mark.parametrize("on", ["cpu", "fragment", "compute"])
@pytest.mark.parametrize("name", sorted(SIZES))
def test_program_gives_what_numpy_gives(
    name: str, on: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(on)
    monkeypatch.setenv("PYGPU_TARGET", on)
    sizes, tolerance = SIZES[name]
    found = program(name).difference(**sizes)
    error = found[0] if isinstance(found, tuple) else found
    assert error <= tolerance
