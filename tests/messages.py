"""The texts of a source file that a user may read: long strings that are no docstrings, with {} for what fills them."""

import ast
import re

LEAST = 20  # characters


def texts(source):
    """The texts of Python source."""
    tree = ast.parse(source)
    seen = {id(part) for part in docstrings(tree)}
    found = set()
    for node in ast.walk(tree):  # the outer nodes first
        text = None if id(node) in seen else text_of(node)
        if text is not None:
            seen |= {id(part) for part in ast.walk(node)}
            found |= {re.sub(r"\{[^{}]*\}", "{}", text)} if len(text) > LEAST and " " in text else set()
    return found


def docstrings(tree):
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            yield body[0].value


def text_of(node):
    """The text of a string or f-string, also of a sum of them; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = text_of(node.left), text_of(node.right)
        return None if sides == (None, None) else "".join("{}" if side is None else side for side in sides)
    return None
