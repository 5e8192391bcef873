"""How the documentation is built: `make docs`. Nothing is fetched, no GPU or driver is needed.

The pages are those of this directory, besides them: the gallery, made by running examples/gallery;
the notebooks of examples/notebooks, run as well; and the pages of the repository's root.
"""

import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT), str(DOCS / "_extensions")]
sys.path.append(str(ROOT / "examples" / "gallery"))
os.environ.setdefault("PYTHONPATH", str(ROOT))  # the notebooks' kernels see this PyGPU, too
os.environ.setdefault("PYGPU_TARGET", "cpu")  # the same pictures on every machine

import pygpu  # noqa: E402 (the path comes first)

project = "PyGPU"
author = "The PyGPU authors"
copyright = author
release = version = pygpu.__version__

extensions = [
    "myst_nb",  # pages in Markdown, and notebooks
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "reference",
    "root_pages",
    "generated_programs",
    "live_pages",
    "source_links",
    "downloads",
]
html_extra_path = ["_live"]  # made by live_pages while the examples run
(Path(__file__).parent / "_live").mkdir(exist_ok=True)
exclude_patterns = ["_build", "_live", "images/README.md", "gallery/*.ipynb", "gallery/*.py"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types in signatures are written as users write them
default_role = "code"  # docstrings put code between single backquotes, as Markdown does

html_theme = "furo"
html_title = "PyGPU"
html_static_path = ["_static"]
html_css_files = ["pygpu.css"]
html_show_sphinx = False
html_copy_source = False
pygments_style = "friendly"
pygments_dark_style = "monokai"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True

nb_execution_mode = "force"  # results are those of this PyGPU, never of an older one
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_execution_show_tb = True
nb_ipywidgets_js = {}  # widgets would need scripts from elsewhere: they show their last state

sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "examples" / "gallery")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/[a-z]\w*\.py$",
    "ignore_pattern": r"^_",
    "within_subsection_order": "ExampleTitleSortKey",
    "image_scrapers": ("generated_programs",),
    "reset_modules": (),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "notebook_extensions": set(),
    "show_signature": False,
    "plot_gallery": True,
    "thumbnail_size": (360, 360),
    "write_computation_times": False,
}
