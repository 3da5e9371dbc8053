"""How Sphinx builds these pages: `make docs`."""

import re
from typing import Any

import lambdaboost

project = "lambdaboost"
version = release = lambdaboost.__version__
html_title = f"lambdaboost {release}"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
]
myst_enable_extensions = ["amsmath", "dollarmath", "deflist"]
myst_heading_anchors = 3

default_role = "py:obj"  # a name in single backticks is a link where it is known
add_module_names = False
python_maximum_signature_line_length = 90
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say them, with shapes and units
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_param = False  # types are words, not links
napoleon_use_rtype = False
napoleon_use_ivar = True
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "furo"
html_theme_options: dict[str, Any] = {"navigation_with_keys": True}
html_show_copyright = False


def setup(app: Any) -> None:
    """Find names that docstrings give without their module; put right what napoleon misreads."""
    app.connect("missing-reference", by_last_name)
    app.connect("autodoc-process-docstring", no_inline_type, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", several_names, priority=600)  # after it


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
