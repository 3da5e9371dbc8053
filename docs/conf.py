"""How Sphinx builds these pages: `make docs`."""

import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.errors import ExtensionError

import lambdaboost

project = "lambdaboost"
version = release = lambdaboost.__version__
html_title = f"lambdaboost {release}"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
myst_enable_extensions = ["amsmath", "dollarmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # outputs as they were kept; tests/test_notebooks.py runs the notebooks
html_math_renderer = "mathml"

default_role = "py:obj"  # a name in single backticks is a link where it is known
add_module_names = False
python_maximum_signature_line_length = 90
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say them, with shapes and units
autodoc_preserve_defaults = False  # the signature of a ranker is not that of its source
napoleon_google_docstring = False
napoleon_use_param = False  # types are words, not links
napoleon_use_rtype = False
napoleon_use_ivar = True
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "furo"
html_theme_options: dict[str, Any] = {"navigation_with_keys": True}
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]

LEAST_DESCRIBED, DESCRIBED = 40, 160  # characters of a page's description


def setup(app: Any) -> None:
    """Formulas as MathML; names that docstrings give without their module; what napoleon misreads."""
    app.add_html_math_renderer("mathml", (inline_formula, None), (block_formula, None))
    app.connect("build-finished", check_offline)
    app.connect("html-page-context", describe)
    app.connect("missing-reference", by_last_name)
    app.connect("autodoc-process-docstring", no_inline_type, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", several_names, priority=600)  # after it


def describe(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """The description that search engines show: the first paragraph of the page."""
    for paragraph in doctree.findall(nodes.paragraph) if doctree else ():
        text = " ".join(paragraph.astext().split())
        if len(text) > LEAST_DESCRIBED:
            shown = text if len(text) <= DESCRIBED else text[: DESCRIBED - 2].rpartition(" ")[0] + " …"
            context["metatags"] += f'<meta name="description" content="{escape(shown)}">'
            return


def by_last_name(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Link `NDCG` to ``lambdaboost.evaluation.NDCG`` where only one object is called so.

    Plain words are mostly arguments, and ``lightgbm.train`` is LightGBM's.
    """
    target = node["reftarget"]
    if node.get("refdomain") != "py":
        return None
    if target.split(".")[0] in ("lightgbm", "xgboost") or (target.islower() and "_" not in target):
        return None
    domain = env.domains["py"]
    ending = "." + target
    found = [name for name in domain.objects if name.endswith(ending)]
    if len(found) != 1:
        return None
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", found[0], node, contnode)


def no_inline_type(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Napoleon takes "Sum: of all" for a description "of all" of type "Sum" where it is a property's first line."""
    if what in ("property", "attribute"):
        lines.insert(0, "\\ ")  # nothing, as reStructuredText


def several_names(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Sphinx takes the first of two attributes that share a line for the type of the second."""
    lines[:] = [
        re.sub(r"^:(ivar|vartype) [^:]*:", lambda found: found[0].replace(", ", ","), l) for l in lines
    ]


def inline_formula(writer: Any, node: Any) -> None:
    """A formula in a line: browsers show MathML without a script or a network."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block_formula(writer: Any, node: Any) -> None:
    r"""A formula on lines of its own; formulas that stand apart by \qquad may go to a line each."""
    formulas = node.astext().split(r"\qquad") if r"\begin" not in node.astext() else [node.astext()]
    shown = (convert(formula, display="block") for formula in formulas)
    writer.body.append('<div class="math">' + "\n".join(shown) + "</div>\n")
    raise nodes.SkipNode


def check_offline(app: Any, error: Exception | None) -> None:
    """Refuse pages that need a network to be read or searched."""
    if error is None and app.builder.format == "html":
        for page in Path(app.outdir).rglob("*.html"):
            text = page.read_text(encoding="utf-8")
            fetched = re.findall(
                r"<(?:script|img|link rel=\"(?:stylesheet|preload)\")[^>]*=\"(https?:[^\"]*)\"", text
            )
            if fetched:
                raise ExtensionError(f"{page} loads {fetched[0]}: give a copy in docs/_static")
