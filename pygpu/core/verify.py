"""Checks that a function is well formed: what every pass may rely on and must leave behind."""

from pygpu.core.operations.ops import TABLE
from pygpu.ssa import Function, Load, Op, Region, Value
from pygpu.types import BOOL, INT, Type


def verify(function: Function) -> Function:
    """The function itself, or an AssertionError that prints it and says what is wrong."""
    try:
        if [value.type for value in function.body.params[:2]] != [INT, INT]:
            raise AssertionError("the first two parameters are x and y, ints")
        _region(function, function.body, set())
    except AssertionError as error:
        raise AssertionError(f"{error}, in\n{function}") from None
    return function


def _region(function: Function, region: Region, seen: set[Value]) -> None:
    visible = seen | set(region.params)
    for op in region.ops:
        for value in op.operands:
            if value not in visible:
                raise AssertionError(f"{op} uses {value}, which is not defined before it")
        _op(function, op, visible)
        for value in op.results:
            if value.op is not op:
                raise AssertionError(f"{value} does not belong to {op}")
        visible.update(op.results)
    for value in region.results:
        if value not in visible:
            raise AssertionError(f"a region hands on {value}, which is not defined in it")


def _op(function: Function, op: Op, visible: set[Value]) -> None:
    types = [value.type for value in op.results]
    for region in op.regions:
        _region(function, region, visible)
    if op.code == "if":
        if [value.type for value in op.operands] != [BOOL]:
            raise AssertionError(f"{op} takes one bool")
        if len(op.regions) != 2 or any(region.params for region in op.regions):
            raise AssertionError(f"{op} takes two regions without parameters")
        for region in op.regions:
            _match(op, [value.type for value in region.results], types)
    elif op.code == "loop":
        (body,) = op.regions
        if not body.results or body.results[0].type is not BOOL:
            raise AssertionError(f"the body of {op} must hand on a bool first")
        for have in (op.operands, body.params, body.results[1:]):
            _match(op, [value.type for value in have], types)
    else:
        try:
            expected = TABLE[op.code].result([value.type for value in op.operands], op.data)
        except (TypeError, KeyError) as error:
            raise AssertionError(f"{op}: {error}") from None
        _match(op, types, [expected])
    image = op.data.image if isinstance(op.data, Load) else 0
    if isinstance(op.data, Load) and function.images[image].type is not op.data.type:
        raise AssertionError(f"{op} loads {op.data.type} from {function.images[image]}")


def _match(op: Op, have: list[Type], want: list[Type]) -> None:
    if have != want:
        raise AssertionError(f"{op} has types {have} where {want} are due")
