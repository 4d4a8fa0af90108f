"""Source of the page library for actions: the files of this folder and the node's tools, as one function."""

from __future__ import annotations

from functools import cache

from cdpengine._input.actionability.naming import naming_source
from cdpengine._javascript import own, script


@cache
def library_source() -> str:
    """Return the source of the library. It is sent to and compiled in each world once."""
    names = (
        "input_observer",
        "actionability",
        "input_report",
        "covering",
        "places",
        "label",
        "once",
        "when_usable",
        "pace",
    )
    sources = (script(f"_input/actionability/{name}") for name in names)
    arms, probe, report, covering, places, label, once, use, pace = sources
    guards = script("_input/actionability/key_guard")
    tools, states = script("_page/scripts/node_tools"), script("_page/scripts/node_states")
    return own(f"""function () {{
      const toolsOf = {tools};
      const statesOf = {states};
      const known = {{ marks: false, held: null, last: null, observers: new Map(), renamed: {naming_source()} }};
      const tools = (node) => toolsOf(node, known);
      const arms = {arms};
      const observer = (wanted, points, of) => arms(wanted, points, of, known);
      const probe = {probe};
      const report = {report};
      const covering = {covering};
      const places = {places};
      const label = {label};
      const use = {use};
      const functions = new Map();
      const labelOf = (node) => label.call(node, tools, places);
      return {{
        observers: known.observers,
        keys: ({guards})(tools, ({pace})()),
        once: ({once})(),
        // Keeps a function under its number, or returns the kept one.
        kept: (number, act) => (act ? functions.set(number, act).get(number) : functions.get(number)),
        use,
        // Resolves an element's number. The element is kept alive until the next call.
        element: (holder, number) => (known.held = holder.element(number) || null),
        probe: (node, request) => {{
          const of = tools(node);
          return probe.call(node, request, of, statesOf(node, of), observer, known, labelOf);
        }},
        states(node) {{ return statesOf(node, tools(node)).all(this.keys.drawnByPage); }},
        drag: (node, dragging) => {{ known.dragged = dragging ? tools(node).element : null; }},
        covering: (node, request) => covering.call(node, request, tools(node)),
        places: (node, request) => places.call(node, request, tools(node)),
        label: labelOf,
        renamed: (node, expected) => known.renamed(tools(node).element, expected),
        report: (node, request) => report.call(node, request, tools(node)),
      }};
    }}""")
