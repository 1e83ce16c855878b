"""From a typed expression to a program of the vector machine."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ambergate.errors import ExpressionError
from ambergate.expr.nodes import Literal
from ambergate.expr.rules import COMPARISONS
from ambergate.expr.types import Typed, holds
from ambergate.kernels.constants import exact_values, scalar
from ambergate.kernels.vector import BOUNDS, class_of, is_native, is_plain, kind_of, register_class
from ambergate_native.columns import Kind
from ambergate_native.vector import MAX_INSTRUCTIONS, OPERATION_CLASSES, Program
from ambergate_native.views import Views

__all__ = ["Program", "Region", "Views", "compile_region"]

is_ = pa.types

Source = tuple[Typed, pa.DataType]


@dataclass(slots=True)
class Region:
    """A program and where its inputs come from.

    ``leaves[k]`` is the expression whose values are input ``k``; ``sources[n]`` is what instruction
    ``n`` computes, and the type it must fit, for messages.
    """

    program: Program
    leaves: list[Typed]
    sources: list[Source]


def compile_region(typed: Typed) -> Region:
    """The program of ``typed`` down to its leaves; of its outermost call, if it is too long."""
    region = _compile(typed, shallow=False) or _compile(typed, shallow=True)
    assert region is not None, "one call is never too long"
    return region


def _compile(typed: Typed, shallow: bool) -> Region | None:
    builder = _Builder(shallow=shallow)
    result = builder.value(typed, typed.type)
    if isinstance(result, _Constant):
        result = builder.register_of(result)
    if len(builder.instructions) > MAX_INSTRUCTIONS:
        return None
    kind = kind_of(typed.type)
    assert kind is not None, f"{typed.type} is no type of the vector machine"
    program = Program(
        "".join(builder.classes),
        builder.constants,
        builder.inputs,
        builder.instructions,
        result.number,
        kind,
    )
    return Region(program, builder.leaves, builder.sources)


@dataclass(frozen=True, slots=True)
class _Constant:
    of: str  # class
    value: Any


@dataclass(frozen=True, slots=True)
class _Held:
    of: str
    number: int
    temporary: bool = False


@dataclass
class _Builder:
    classes: list[str] = field(default_factory=list)
    constants: list[tuple[int, Any]] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    instructions: list[tuple[str, int, int, int, int]] = field(default_factory=list)
    leaves: list[Typed] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    known: dict[Any, _Held] = field(default_factory=dict)
    shallow: bool = False
    entered: bool = False
    free: dict[str, list[int]] = field(default_factory=dict)

    # registers

    def _new(self, of: str) -> int:
        self.classes.append(of)
        return len(self.classes) - 1

    def register_of(self, value: _Held | _Constant) -> _Held:
        """The register of a value; a constant gets one of its own."""
        if isinstance(value, _Held):
            return value
        key = ("constant", value.of, repr(value.value))
        if key not in self.known:
            self.known[key] = _Held(value.of, self._new(value.of))
            self.constants.append((self.known[key].number, value.value))
        return self.known[key]

    def emit(
        self,
        name: str,
        source: Typed,
        *operands: _Held | _Constant,
        fits: pa.DataType | None = None,
    ) -> _Held:
        """Append an operation; temporaries among its operands are free afterwards."""
        held = [self.register_of(operand) for operand in operands]
        of = OPERATION_CLASSES[name][0]
        if of == "w":
            of = held[-1].of
        unused = self.free.setdefault(of, [])
        number = unused.pop() if unused else self._new(of)
        a, b, c = [operand.number for operand in held] + [-1] * (3 - len(held))
        self.instructions.append((name, number, a, b, c))
        self.sources.append((source, fits or source.type))
        for place in {operand.number for operand in held if operand.temporary}:
            self.free.setdefault(self.classes[place], []).append(place)
        return _Held(of, number, temporary=True)

    # values

    def value(self, typed: Typed, wanted: pa.DataType) -> _Held | _Constant:
        """``typed`` as a value of type ``wanted``."""
        if isinstance(typed.expr, Literal):
            return self._literal(typed, wanted)
        if is_.is_null(typed.type):
            return _Constant(register_class(wanted), None)
        inside = not (self.shallow and self.entered)
        self.entered = True
        found = self._call(typed) if inside and is_native(typed) else self._leaf(typed)
        return self.convert(found, typed, typed.type, wanted)

    def _leaf(self, typed: Typed) -> _Held:
        key = typed.expr.key()
        if key not in self.known:
            self.known[key] = _Held(
                register_class(typed.type), self._new(register_class(typed.type))
            )
            self.inputs.append(self.known[key].number)
            self.leaves.append(typed)
        return self.known[key]

    def _literal(self, typed: Typed, wanted: pa.DataType) -> _Constant:
        of, value = register_class(wanted), typed.value
        if value is None:
            return _Constant(of, None)
        if is_.is_integer(wanted) and not holds(value, wanted):
            raise ExpressionError(str(typed.expr), f"it does not fit {wanted}", "cast it first")
        if of == "f":
            return _Constant(of, float(value) if wanted == pa.float64() else _single(value))
        if not is_plain(wanted):
            constant = scalar(value, wanted if typed.loose else typed.type).cast(wanted)
            stored = pa.int32() if kind_of(wanted) == Kind.INT32 else pa.int64()
            value = constant.cast(stored).as_py()
        return _Constant(of, bool(value) if of == "b" else int(value))

    def convert(
        self, value: _Held | _Constant, typed: Typed, of: pa.DataType, to: pa.DataType
    ) -> _Held | _Constant:
        """A value of type ``of`` as one of type ``to``."""
        if of.equals(to) or not is_plain(to):
            return value
        source, target = register_class(of), register_class(to)
        if source in "iu" and to == pa.float32():
            return self.emit(f"{source}_to_f32", typed, value)  # by way of double it rounds twice
        if source != target:
            value = self.emit(f"{source}_to_{target}", typed, value, fits=to)
        if to == pa.float32():
            return self.emit("f_to_f32", typed, value) if of != pa.float32() else value
        if to in BOUNDS and source != "b":
            low, high = BOUNDS[to]
            inside = of in BOUNDS and low <= BOUNDS[of][0] and BOUNDS[of][1] <= high
            if not inside:
                limits = _Constant("i", low), _Constant("i", high)
                return self.emit("within_i", typed, value, *limits, fits=to)
        return value

    def _call(self, typed: Typed) -> _Held | _Constant:
        function = typed.expr.function
        if function in COMPARISONS:
            return self._compare(function, typed, *typed.arguments)
        if function == "is_in":
            return self._is_in(typed)
        arguments = [
            self.value(argument, wanted or argument.type)
            for argument, wanted in zip(typed.arguments, typed.wants, strict=True)
        ]
        of = register_class(typed.type)
        wide = "b" if of == "b" else "w"
        if function == "cast":
            return self.convert(arguments[0], typed, typed.arguments[0].type, typed.type)
        if function in ("is_null", "is_not_null"):
            held = self.register_of(arguments[0])
            return self.emit(f"{function}_{'b' if held.of == 'b' else 'w'}", typed, held)
        if function in ("floor", "ceil", "round", "abs") and (
            of == "u" or (function != "abs" and of == "i") or typed.type in BOUNDS
        ):
            return arguments[0]
        if function in ("min_of", "max_of"):
            found = arguments[0]
            for argument in arguments[1:]:
                found = self.emit(f"{function[:3]}_{of}", typed, found, argument)
            return found
        if function == "when":
            found = arguments[-1]
            for place in range(len(arguments) - 3, -1, -2):
                found = self.emit(
                    f"choose_{wide}", typed, arguments[place], arguments[place + 1], found
                )
            return found
        if function == "fill_null":
            return self.emit(f"fill_null_{wide}", typed, *arguments)
        found = self.emit(f"{function}_{of}", typed, *arguments)
        return self.emit("f_to_f32", typed, found) if typed.type == pa.float32() else found

    # comparisons

    def _compare(self, function: str, typed: Typed, left: Typed, right: Typed) -> _Held:
        if typed.wants[0] is not None:
            left_value = self.value(left, typed.wants[0])
            right_value = self.value(right, typed.wants[0])
        else:
            left_value, right_value = self._sides(left, right)
        if function.startswith("greater"):
            function = function.replace("greater", "less")
            left_value, right_value = right_value, left_value
        classes = left_value.of + right_value.of
        if function in ("equal", "not_equal") and classes in ("fi", "fu", "ui"):
            left_value, right_value = right_value, left_value
            classes = classes[::-1]
        return self.emit(f"{function}_{classes}", typed, left_value, right_value)

    def _sides(self, left: Typed, right: Typed) -> tuple[_Held | _Constant, _Held | _Constant]:
        """Both operands as they are, a constant where it can be of the class of the other."""
        values = []
        for one, other in ((left, right), (right, left)):
            if isinstance(one.expr, Literal) and not isinstance(other.expr, Literal):
                of = class_of(other.type) or "i"
                values.append(_exact(one.value, of) or self._literal(one, one.type))
            elif is_.is_null(one.type):
                values.append(_Constant(class_of(other.type) or "i", None))
            else:
                values.append(self.value(one, one.type))
        return values[0], values[1]

    def _is_in(self, typed: Typed) -> _Held:
        (argument,) = typed.arguments
        value = self.value(argument, argument.type)
        found = None
        listed = exact_values(typed.expr.options[0], argument.type)
        for item in listed:
            literal = Typed(Literal(item, argument.type), argument.type)
            constant = self._literal(literal, argument.type)
            # the value is read again: it must not be taken for free after its first use
            held = self.register_of(value)
            value = _Held(held.of, held.number)
            equal = self.emit(f"equal_{value.of}{value.of}", typed, value, constant)
            found = equal if found is None else self.emit("or_b", typed, found, equal)
        if found is None:
            # nothing can match: false, and null where the value is null
            held = self.register_of(value)
            value = _Held(held.of, held.number)
            same = self.emit(f"equal_{value.of}{value.of}", typed, value, value)
            never = self.emit(f"not_equal_{value.of}{value.of}", typed, value, value)
            return self.emit("and_b", typed, same, never)
        return found


def _exact(value: Any, of: str) -> _Constant | None:
    """The constant as one of class ``of`` if it is exactly that."""
    if value is None:
        return _Constant(of, None)
    if of == "b" or isinstance(value, bool):
        return _Constant(of, value) if of == "b" and isinstance(value, bool) else None
    if isinstance(value, float) and not math.isfinite(value):
        return _Constant("f", value)
    if of == "f":
        try:
            return _Constant(of, float(value)) if float(value) == value else None
        except OverflowError:
            return None
    low, high = (0, 2**64) if of == "u" else (-(2**63), 2**63)
    return _Constant(of, int(value)) if int(value) == value and low <= value < high else None


def _single(value: Any) -> float:
    return pa.scalar(float(value), pa.float32()).as_py()
