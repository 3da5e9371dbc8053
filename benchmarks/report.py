"""What is written and printed of a benchmark."""

from __future__ import annotations

import io
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lambdaboost.bench.machine import Machine
from lambdaboost.bench.section import Section
from lambdaboost.datasets._files import replacing


def described(machine: Machine, sections: dict[str, Section]) -> dict[str, Any]:
    """For JSON."""
    return {
        "machine": machine.described(),
        "sections": {
            name: {
                "title": section.title,
                "method": section.method,
                "remarks": list(section.remarks),
                "figures": section.figures,
            }
            for name, section in sections.items()
        },
    }


def write(machine: Machine, sections: dict[str, Section], out: Path) -> list[Path]:
    """Write bench.json, the pictures and bench.md into the folder `out`; where matplotlib is missing, no pictures."""
    contents = {
        out / "bench.json": json.dumps(described(machine, sections), indent=2, allow_nan=False).encode()
    }
    drawn = {
        name: _picture(section) for name, section in sections.items() if section.draw and has_matplotlib()
    }
    contents |= {out / f"{name}.png": picture for name, picture in drawn.items()}
    contents[out / "bench.md"] = _markdown(machine, sections, set(drawn)).encode()
    for path, content in contents.items():
        with replacing(path) as file:
            file.write(content)
    return list(contents)


def has_matplotlib() -> bool:
    """Whether pictures can be drawn."""
    return find_spec("matplotlib") is not None


def _markdown(machine: Machine, sections: dict[str, Section], drawn: set[str]) -> str:
    parts = ["# lambdaboost bench", machine.markdown()]
    for name, section in sections.items():
        parts += [f"## {section.title}", section.grid.markdown(), section.method]
        if section.remarks:
            parts.append("\n".join(f"- {remark}" for remark in section.remarks))
        if name in drawn:
            parts.append(f"![{section.title}]({name}.png)")
    return "\n\n".join(parts) + "\n"


def _picture(section: Section) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.4), dpi=150, layout="constrained")
    assert section.draw is not None
    section.draw(figure.subplots())
    content = io.BytesIO()
    figure.savefig(content, format="png")
    return content.getvalue()
