"""Values of scripts, as `page.evaluate` returns them."""

from cdpengine._evaluate.evaluation import EvaluationStatistics
from cdpengine._evaluate.values import (
    JSDate,
    JSError,
    JSFunction,
    JSMap,
    JSNode,
    JSObject,
    JSRegExp,
    JSSet,
    JSSymbol,
    JSTypedArray,
    JSValue,
    JSWindow,
)

__all__ = [
    "EvaluationStatistics",
    "JSDate",
    "JSError",
    "JSFunction",
    "JSMap",
    "JSNode",
    "JSObject",
    "JSRegExp",
    "JSSet",
    "JSSymbol",
    "JSTypedArray",
    "JSValue",
    "JSWindow",
]
