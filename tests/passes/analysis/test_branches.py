"""What is known of the results of branches."""

from pygpu.core.builder import Builder
from pygpu.passes.analysis.branches import going_on
from pygpu.ssa import Region, Value
from pygpu.types import FLOAT, INT


def test_what_a_loop_does_not_leave_behind_is_looked_at_where_it_goes_on() -> None:
    """`while n < 9: x, n = x * x, n + 1` and then n, as it is translated."""
    build = Builder("f")
    start = build.constant(FLOAT, 0.5), build.constant(INT, 0)
    x, n = Value(FLOAT, "x"), Value(INT, "n")
    body, first, second = Region((x, n)), Region(), Region()
    with build.inside(body):
        goes = build.emit("lt", n, build.constant(INT, 9))
        with build.inside(first):
            first.results = build.emit("mul", x, x), build.emit("add", n, build.constant(INT, 1))
        with build.inside(second):
            second.results = build.constant(FLOAT, 0.0), n
        square, more = build.append("if", [goes], [FLOAT, INT], [first, second])
        body.results = (goes, square, more)
    left = build.append("loop", list(start), [FLOAT, INT], [body])
    function = build.finish([left[1]])
    assert left[0].op is not None
    assert going_on(function, [left[0].op]) == {square: 0}
    assert going_on(build.finish(left), [left[0].op]) == {}
