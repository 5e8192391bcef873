"""The gallery's programs as pages that run them in the browser: docs/_live, which the build copies
beside the documentation, with a page of all.

live_pages.embedded("kuwahara", "Kuwahara", render)     # reStructuredText that shows it
"""

import html
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from _gallery import open_photo
from PIL import Image as PILImage
from sphinx.application import Sphinx

from pygpu import DeviceError, Image
from pygpu.execution.web.recorded import export_recorded

FOLDER: Final = Path(__file__).parent.parent / "_live"
LIVE: Final = FOLDER / "live"  # below the folder that is copied as it is
SIDE: Final = 320  # pixels of the photograph on a page


def embedded(name: str, title: str, render: Callable[..., Any]) -> str:
    """Write an example's page; what shows it, or says why there is none."""
    LIVE.mkdir(parents=True, exist_ok=True)
    photo = Image(open_photo().to_pil().resize((SIDE, SIDE), PILImage.Resampling.LANCZOS))
    try:
        export_recorded(render, LIVE / f"{name}.html", [photo], name=title)
    except DeviceError:
        return "This one computes in Python between its programs, and does not run in a browser.\n"
    return f"""
.. raw:: html

    <p><a href="../live/{name}.html">Run it in the browser</a>, on a picture of yours, or here:</p>
    <iframe src="../live/{name}.html" loading="lazy" title="{html.escape(title)}, live"
      style="width: 100%; height: 40rem; border: 1px solid #8886"></iframe>

"""


def write_index(app: Sphinx) -> None:
    """The page of all, when the examples have run."""
    LIVE.mkdir(parents=True, exist_ok=True)
    items = []
    for page in sorted(LIVE.glob("*.html")):
        if page.stem != "index":
            title = page.stem.replace("_", " ").capitalize()
            thumb = f"../_images/sphx_glr_{page.stem}_thumb.png"
            image = f'<img src="{thumb}" alt="" loading="lazy">'
            items.append(f'<li><a href="{page.name}">{image}{title}</a></li>')
    style = (
        ":root{color-scheme:light dark}body{font:1rem system-ui,sans-serif;margin:1rem auto;"
        "max-width:76rem;padding:0 1rem}ul{display:grid;list-style:none;padding:0;gap:1rem;"
        "grid-template-columns:repeat(auto-fill,minmax(10rem,1fr))}img{width:100%;display:block}"
    )
    (LIVE / "index.html").write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>PyGPU live</title><style>{style}</style><h1>PyGPU live</h1>"
        "<p>Each program runs in this browser, on the photograph or on a picture of yours. "
        f'<a href="../gallery/index.html">The gallery</a> shows the Python.</p><ul>{"".join(items)}'
        "</ul></html>",
        "utf-8",
    )


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("env-updated", lambda app, env: write_index(app))
    return {"parallel_read_safe": True}
