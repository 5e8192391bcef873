"""Links from the pages of sources back to the reference lead to where it has a name.

Sphinx takes all names of a module's page to be of one module: `pygpu.compile` is documented so, and
`pygpu.runtime.Compiled`, of the same source, is not."""

import re
from typing import Any

from sphinx.application import Sphinx


def mend(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if not page.startswith("_modules/pygpu"):
        return
    module = page.removeprefix("_modules/").replace("/", ".")
    objects = app.env.get_domain("py").objects

    def named(match: re.Match[str]) -> str:
        whole = f"{module}.{match[1]}"
        return f'#{whole}"' if f"pygpu.{match[1]}" not in objects and whole in objects else match[0]

    context["body"] = re.sub(r'#pygpu\.([\w.]+)"', named, context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", mend)
    return {"parallel_read_safe": True}
