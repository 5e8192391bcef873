# PyGPU's chores. `make` alone lists them; each sets up what it needs (Python 3.11 or newer) itself.

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= auto
PYTEST_ARGS ?=
BENCH_ARGS ?=

# The first Python of the path that is new enough; PYTHON=... overrules.
PYTHON ?= $(shell for python in python3 python3.15 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

.PHONY: help venv demo gallery test check format bless test-pythons docs notebooks bench \
	bench-gpu bench-gallery clean

help: ## list what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

venv: $(VENV)/.dev ## make .venv with PyGPU and all tools for working on it

demo: $(VENV)/.base ## find the edges of a photograph and write out/edges.png
	$(BIN)/python examples/demo.py

gallery: $(VENV)/.base ## make all pictures of examples/gallery, on one sheet: out/gallery.png
	$(BIN)/python tools/contact_sheet.py

test: $(VENV)/.dev ## run the tests; those of OpenGL are skipped, with the reason, where there is none
	$(BIN)/python -m pytest -q -n $(JOBS) $(PYTEST_ARGS)

check: $(VENV)/.dev ## lint, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev ## rewrite the sources in the house's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bless: $(VENV)/.dev ## rewrite the golden texts under tests/goldens from what the tests get now
	$(BIN)/python -m pytest -q -n $(JOBS) --bless $(PYTEST_ARGS)

test-pythons: ## run the tests of the front end on every supported CPython
	tools/test-pythons

docs: $(VENV)/.docs ## build the documentation with gallery and notebooks: docs/_build/html
	@# Each notebook's kernel says that it talks over TCP, to this machine alone: that is left out.
	$(BIN)/python -m sphinx -q -W --keep-going docs docs/_build/html \
		2> >(grep -v 'running over TCP without encryption' >&2)
	$(BIN)/python tools/check_links.py docs/_build/html
	@echo docs/_build/html/index.html

notebooks: $(VENV)/.dev $(VENV)/.notebooks ## run the notebooks of examples/notebooks
	$(BIN)/python -m pytest -q -n $(JOBS) tests/documentation/test_notebooks.py

bench: $(VENV)/.bench ## time the kernels against other libraries; table and plot are rewritten
	$(BIN)/python -m benchmarks.cpu --report benchmarks/RESULTS_CPU.md --plot docs/images/benchmarks_cpu.png $(BENCH_ARGS)
	PYGPU_TARGET=cpu $(BIN)/python -m benchmarks.arrays --report benchmarks/RESULTS_ARRAYS.md

bench-gpu: $(VENV)/.bench ## time the kernels on a GPU against other libraries; table and plot are rewritten
	$(BIN)/python -m benchmarks.gpu --json out/gpu.json --report benchmarks/RESULTS_GPU.md --plot docs/images/benchmarks_gpu.png $(BENCH_ARGS)
	PYGPU_TARGET=compute $(BIN)/python -m benchmarks.gpu_arrays --report benchmarks/RESULTS_GPU_ARRAYS.md

bench-gallery: $(VENV)/.bench ## time the functions of the gallery against the same ones in Halide and Numba
	@mkdir -p out
	$(BIN)/python -m benchmarks.gallery --json out/gallery.json --why benchmarks/gallery/why.json \
		--report benchmarks/RESULTS_GALLERY.md $(BENCH_ARGS)

clean: ## remove everything made here
	rm -rf docs/_build docs/_live docs/astronaut.jpg docs/gallery docs/notebooks
	rm -rf $(VENV) build dist out .pythons *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp a set of packages, so that each is installed once and again when pyproject.toml changes.
$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "PyGPU needs Python 3.11 or newer on the path (or PYTHON=...)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) 2>/dev/null \
	|| { rm -rf $(VENV); $(PYTHON) -m virtualenv -q $(VENV) 2>/dev/null; } \
	|| { rm -rf $(VENV); uv venv -q --seed --python $(PYTHON) $(VENV) 2>/dev/null; } \
	|| { rm -rf $(VENV); echo "$(PYTHON) cannot make a virtual environment:" \
	     "install its venv module (Debian: apt install python3-venv), virtualenv or uv" >&2; exit 1; }

$(VENV)/.base: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[test,dev]'
	@touch $@ $(VENV)/.base

$(VENV)/.docs: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[docs]'
	@touch $@ $(VENV)/.base

$(VENV)/.notebooks: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[notebooks]'
	@touch $@ $(VENV)/.base

$(VENV)/.all: $(BIN)/python pyproject.toml # all but benchmarks' at once, which is the quicker way
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[test,dev,docs,notebooks]'
	@touch $@ $(VENV)/.base $(VENV)/.dev $(VENV)/.docs $(VENV)/.notebooks

$(VENV)/.bench: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[bench]'
	@touch $@ $(VENV)/.base
