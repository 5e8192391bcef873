"""`try` in all its forms, `raise` that a handler waits for, `with`, imports, strings nobody reads."""

import cmath
import contextlib
import dataclasses
import logging
import math
import statistics
import warnings

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position, Vec2

program = Suite()
log = logging.getLogger("programs")
log.addHandler(logging.NullHandler())

SQUARES = [0.0, 1.0, 4.0, 9.0]
NAMES = {0: 1.0, 1: 2.5, 4: 8.0}


class TooBright(ValueError):
    def __init__(self, value, limit=1.0):
        super().__init__(f"{value} is more than {limit}")
        self.value = value


class Counted:
    def __init__(self):
        self.entered = 0
        self.failed = 0

    def __enter__(self):
        self.entered += 1
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.failed += 1
        return kind is not None and issubclass(kind, ArithmeticError)


def inverse(v):
    if v > 1:
        raise TooBright(v)
    return 1 / v


def deep(v):
    return inverse(v) + inverse(v / 2)


# ---------------------------------------------------------------- operations that raise


@program
def division_by_zero(im: Image, p: Position):
    v = im(p)
    try:
        x = 1 / v
    except ZeroDivisionError:
        x = -3.0
    return x


@program
def whole_division_by_zero(ints: Image, p: Position):
    try:
        return 100 // (ints(p) % 3) + 7 % (ints(p) % 2)
    except ZeroDivisionError:
        return -1


@program
def domain_of_a_root(im: Image, p: Position):
    try:
        return math.sqrt(im(p))
    except ValueError:
        return -math.sqrt(-im(p))


@program
def domains(im: Image, p: Position):
    n = 0
    for f in (math.log, math.acos, math.atanh, math.log1p, math.acosh):
        try:
            f(im(p))
        except ValueError:
            n = 2 * n + 1
        else:
            n = 2 * n
    return n


@program
def zero_to_a_negative_power(im: Image, p: Position):
    try:
        return im(p) ** -2
    except ZeroDivisionError:
        return 0.5


@program
def index_out_of_a_table(ints: Image, p: Position):
    try:
        return SQUARES[ints(p)]
    except IndexError:
        return -1.0


@program
def key_that_is_not_there(counts: Image, p: Position):
    try:
        return NAMES[counts(p)]
    except KeyError:
        return 0.0


@program
def nan_as_an_int(im: Image, p: Position):
    v = im(p) if im(p) > 0 else float("nan")
    try:
        return int(8 * v)
    except (ValueError, OverflowError):
        return -7


@program
def none_that_has_no_attribute(im: Image, p: Position):
    hit = None
    for k in range(4):
        if im(p + (k, 0)) > 1:
            hit = Vec2(k, im(p + (k, 0)))
            break
    try:
        return hit.x + hit.y
    except AttributeError:
        return -1.0


@program
def scalar_that_cannot_be_unpacked(im: Image, p: Position):
    def both(v):
        try:
            a, b = v
        except TypeError:
            a = b = v
        return a - 2 * b

    return both(im(p)) + both((im(p), 1.0))


@program
def known_error(im: Image, p: Position):
    try:
        k = int("no number")
    except ValueError as error:
        k = len(str(error)) + len(error.args)
    return im(p) + k


@program
def known_error_under_a_condition(im: Image, p: Position):
    try:
        if im(p) > 0:
            return {"a": 1.0}["b"]
        return 2.0
    except KeyError:
        return 3.0


@program
def absent_module(im: Image, p: Position):
    try:
        import no_such_module_at_all as fast
    except ImportError:
        fast = None
    return im(p) if fast is None else fast.f(im(p))


# ---------------------------------------------------------------- raise


@program
def raised_in_the_body(im: Image, p: Position):
    v = im(p)
    try:
        if v < 0:
            raise ValueError(f"{v} is negative")
        x = v + 1
    except ValueError:
        x = 0.25
    return x


@program
def raised_by_a_called_function(im: Image, p: Position):
    try:
        return deep(im(p))
    except TooBright:
        return 1.0
    except ZeroDivisionError:
        return 0.0


@program
def handlers_of_bases(im: Image, p: Position):
    try:
        x = deep(im(p))
    except (KeyError, ArithmeticError):
        x = -1.0
    except Exception as error:
        x = -2.0
    return x


@program
def handler_that_does_not_match(im: Image, p: Position):
    try:
        try:
            x = inverse(im(p))
        except KeyError:
            x = 50.0
    except ValueError:
        x = 60.0
    except ZeroDivisionError:
        x = 70.0
    return x


@program
def raised_again(im: Image, p: Position):
    n = 0
    try:
        try:
            x = inverse(im(p))
        except ValueError:
            n += 1
            raise
        except ZeroDivisionError as error:
            n += 2
            raise KeyError("zero") from error
    except (ValueError, KeyError):
        x = 3.0
    return x + n


@program
def failing_assertion_that_is_handled(im: Image, p: Position):
    try:
        assert im(p) > 0, "negative"
        return 1.0
    except AssertionError:
        return 2.0


@program
def attributes_before_the_raise(im: Image, p: Position):
    class Pen:
        def __init__(self):
            self.x = 0.0

        def move(self, v):
            self.x += v
            if v > 0.5:
                raise ValueError("too far")
            self.x *= 2
            return self

    pen = Pen()
    try:
        pen.move(im(p)).move(im(p + (1, 0)))
    except ValueError:
        pen.x += 100
    return pen.x


# ---------------------------------------------------------------- else, finally, loops


@program
def handler_else_finally(im: Image, p: Position):
    n = 0
    try:
        x = inverse(im(p))
    except ValueError:
        x = -1.0
        n += 1
    except ZeroDivisionError:
        return -5.0
    else:
        x *= 2
    finally:
        n += 10
    return x + n


@program
def finally_alone(im: Image, p: Position):
    s = 0.0
    try:
        if im(p) > 0:
            return 1.0
        s = 2.0
    finally:
        s += 1.0
    return s


@program
def handler_in_a_loop(im: Image, p: Position):
    s = 0.0
    for i in range(-2, 3):
        try:
            s += math.sqrt(im(p + (i, 0)))
        except ValueError:
            continue
        finally:
            s += 1
    return s


@program
def handler_that_leaves_a_long_loop(im: Image, p: Position):
    s = 0.0
    for i in range(300):
        try:
            s += 1 / (im(p) - i / 64)
        except ZeroDivisionError:
            break
    return s / 100


@program
def loop_in_a_body(im: Image, p: Position):
    i, s = 0, 0.0
    try:
        while True:
            s += inverse(im(p + (i, 0)))
            i += 1
            if i > 5:
                return s
    except ValueError:
        return -i
    except ZeroDivisionError:
        return i + 0.5


@program
def retried(im: Image, p: Position):
    v = im(p)
    tries = 0
    while True:
        try:
            x = math.sqrt(v)
            break
        except ValueError:
            v += 0.75
            tries += 1
    return x + tries


@program
def items_that_raise(im: Image, p: Position):
    try:
        return sum([1 / im(p + (i, 0)) for i in range(3)])
    except ZeroDivisionError:
        return 0.0


@program
def generated_items_that_raise(im: Image, p: Position):
    try:
        return sum(inverse(im(p + (i, 0))) for i in range(3))
    except (ZeroDivisionError, ValueError):
        return 0.0


@program
def handler_in_a_called_function(im: Image, p: Position):
    def safe(v, otherwise):
        try:
            return inverse(v)
        except (ValueError, ZeroDivisionError):
            return otherwise

    return safe(im(p), 7.0) + safe(im(p + (1, 0)), im(p))


@program
def quotients_of_numpy_do_not_raise(im: Image, p: Position):
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            x = float(np.minimum(np.divide(np.float32(1.0), np.abs(im(p))), 9.0))
    except ZeroDivisionError:
        x = -1.0
    return x


# ---------------------------------------------------------------- with


@program
def contexts_that_do_nothing(im: Image, p: Position):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.nullcontext(2.0) as two:
            return two * im(p)


@program
def suppressed(im: Image, p: Position):
    with contextlib.suppress(ZeroDivisionError, KeyError):
        return 1 / im(p)
    return -1.0


@program
def context_of_the_users(im: Image, p: Position):
    x = 0.0
    with Counted() as outer:
        with Counted() as inner:
            x = 1 / im(p)
        x += 1
    return x + 10 * outer.entered + 100 * inner.failed


@program
def context_that_lets_exceptions_pass(im: Image, p: Position):
    seen = Counted()
    try:
        with seen:
            x = inverse(im(p))
            if im(p) < 0:
                raise KeyError(x)
    except (ValueError, KeyError):
        x = 30.0
    else:
        x = 20.0
    return x + seen.failed


# ---------------------------------------------------------------- imports, strings, reports


@program
def imports(im: Image, p: Position):
    import math as m
    import os.path
    from math import floor, pi

    from numpy import linalg as la

    return m.sqrt(floor(abs(im(p)))) + pi + la.norm([im(p), 2.0]) + len(os.path.sep)


@program
def strings_that_nobody_reads(im: Image, p: Position):
    v = im(p)
    label = f"{v:.3f} at {p}" + "!"
    other = "%f %d" % (v, p.x) if v > 0 else "{}".format(v)
    text = str(v) + label
    if not 0 <= abs(v) <= 4:
        raise ValueError("no such texel: " + text + other)
    return 2 * v


@program
def reports(im: Image, p: Position):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        v = im(p)
        log.debug("texel %s", v)
        log.info(f"at {p}")
        return v + 1


@program
def variables_by_name(im: Image, p: Position):
    v = im(p)
    here = locals()
    label = "{v} of {im}".format(**here)
    return here["v"] + len(here)


# ---------------------------------------------------------------- generators


def inverses(im, p):
    for i in range(3):
        yield inverse(im(p + (i, 0)))


def halvings(v):
    while v > 0.25:
        yield v
        v = v / 2
    if v < 0:
        raise KeyError(v)


@program
def generator_that_raises(im: Image, p: Position):
    s = 0.0
    try:
        for x in inverses(im, p):
            s += x
    except ValueError:
        s += 100.0
    except ZeroDivisionError:
        s -= 100.0
    return s


@program
def generator_on_the_device_that_raises(im: Image, p: Position):
    s = 0.0
    try:
        for x in halvings(im(p)):
            s += x
    except KeyError:
        s = -1.0
    return s


@program
def body_that_raises_in_a_loop_over_a_generator(im: Image, p: Position):
    s = 0.0
    try:
        for x in halvings(abs(im(p))):
            s += 1 / (x - 1)
    except ZeroDivisionError:
        s += 50.0
    return s


@program
def contexts_in_rounds_that_leave(im: Image, p: Position):
    s = 0.0
    for i in range(3):
        with contextlib.suppress(ValueError):
            s += 1 / (im(p + (i, 0)) + 4)
            if im(p + (i, 0)) > 1:
                return s
            math.sqrt(im(p))
            s += 10
    return s


# ---------------------------------------------------------------- methods and builtins that raise


@program
def value_that_is_not_in_a_list(im: Image, p: Position):
    try:
        return [3.0, 1.0, 2.0].index(im(p))
    except ValueError:
        return -1


@program
def item_popped_from_beyond(ints: Image, p: Position):
    xs = [1.0, 2.0, 3.0]
    try:
        return xs.pop(ints(p)) + sum(xs)
    except IndexError:
        return sum(xs)


@program
def greatest_of_perhaps_none(im: Image, p: Position):
    n = 0.0
    try:
        n += max([im(p + (i, 0)) for i in range(3) if im(p + (i, 0)) > 0.5])
        n += min(v for v in (im(p), im(p + (0, 1))) if v < 0)
    except ValueError:
        n -= 10
    return n


@program
def items_that_are_perhaps_not_there(im: Image, p: Position):
    xs = []
    for i in range(3):
        if im(p + (i, 0)) > 0:
            xs.append(im(p + (i, 0)))
    try:
        return xs[1] + xs.pop() + xs.pop() + sum(xs) / len(xs)
    except IndexError:
        return -1.0
    except ZeroDivisionError:
        return -2.0


@program
def whole_numbers_below_zero(ints: Image, p: Position):
    n, k = 0, ints(p) % 7 - 3
    for f in (math.factorial, math.isqrt, lambda k: math.comb(5, k), lambda k: 1 << k):
        try:
            n += f(k)
        except ValueError:
            n -= 1000
    return n


@program
def many_items_that_raise_before_they_are_used(im: Image, p: Position):
    try:
        roots = [math.sqrt(im(p + (i % 3, 0)) + 1) for i in range(100)]
    except ValueError:
        return -1.0
    return sum(roots)


@program
def number_of_a_word_that_is_none(counts: Image, p: Position):
    try:
        n = int("12a4b"[counts(p) % 5])
    except ValueError:
        n = -1
    return n


@program
def number_of_a_word_returned_where_it_is_one(counts: Image, p: Position):
    word = "12a4b"[counts(p) % 5]
    try:
        return int(word)
    except ValueError:
        return -counts(p)


@program
def what_is_done_before_raising_on_each_of_several_paths(im: Image, p: Position):
    log = [0.0]

    def note(k):
        log[0] = log[0] * 3 + k
        return k

    def check(v):
        note(1)
        if v > 0.5:
            note(2)
            raise KeyError(note(3))
        elif v < -0.5:
            raise ValueError
        else:
            note(4)
            raise IndexError

    try:
        check(im(p))
    except KeyError:
        note(5)
    except ValueError:
        note(6)
    except IndexError:
        note(7)
    return log[0]


@program
def exception_of_a_chosen_class(im: Image, p: Position):
    def fail(error):
        raise error(im(p))

    try:
        if im(p) > 0:
            fail(ValueError if im(p) > 1 else KeyError)
    except ValueError:
        return 1.0
    except KeyError:
        return 2.0
    return 0.0


# ---------------------------------------------------------------- what exceptions hold


class FilterError(Exception):
    def __init__(self, code, level=0.0):
        super().__init__(f"filter error {code}")
        self.code = code
        self.level = level


class TooHigh(FilterError):
    pass


class TooLow(FilterError):
    @property
    def penalty(self):
        return self.level * 2


def guarded(v):
    if v > 1:
        raise TooHigh(1, v)
    if v < -1:
        raise TooLow(2, level=v)
    return v


@dataclasses.dataclass
class Bad(Exception):
    code: int
    level: float = 0.0

    def worse(self, k):
        return self.level * k + self.code


class Worse(Bad):
    pass


class Named(ValueError):
    def __str__(self):
        return "named"


@program
def attributes_of_what_was_raised(im: Image, p: Position):
    try:
        return guarded(im(p))
    except TooHigh as e:
        return 10 + e.level + e.code
    except TooLow as e:
        return e.penalty - e.code * 100


@program
def attribute_of_several_classes(im: Image, p: Position):
    try:
        v = guarded(im(p) * 1.5)
    except FilterError as e:
        return e.code * 10 + isinstance(e, TooHigh)
    else:
        v += 100
    return v


@program
def attributes_in_a_loop_with_finally(im: Image, p: Position):
    log = 0
    r = 0.0
    for k in range(4):
        try:
            r += guarded(im(p + (k, 0)))
        except TooHigh:
            log += 1
            continue
        except TooLow as e:
            r -= e.level
            break
        else:
            log += 10
        finally:
            log += 100
    return r, log


@program
def cause_of_what_was_raised(im: Image, p: Position):
    try:
        try:
            v = guarded(im(p))
        except TooHigh as e:
            raise ValueError("bad") from e
        finally:
            w = 5
        v = 1 / (p.x - 1)
    except ValueError as e:
        return -1.0 - isinstance(e.__cause__, TooHigh)
    except ZeroDivisionError:
        return w
    except TooLow as e:
        return e.penalty
    return v


@program
def argument_returned_by_a_handler(im: Image, p: Position):
    def f(n):
        try:
            if n > 2:
                return n * 10
            if n == 1:
                raise KeyError(n)
        except KeyError as e:
            return e.args[0] + 500
        finally:
            if n == 0:
                return -7
        return 1

    return f(p.x + p.y) + im(p)


@program
def arguments_of_what_was_raised(im: Image, p: Position):
    try:
        if im(p) > 0.5:
            raise ValueError("big", im(p), p.x)
        if im(p) < -0.5:
            raise TypeError(im(p) * 2)
        return 0.0
    except ValueError as e:
        name, v, x = e.args
        return v + x
    except TypeError as e:
        return e.args[0] - 50


@program
def exception_that_is_a_dataclass(im: Image, p: Position):
    try:
        if im(p) > 0.5:
            raise Bad(p.x, im(p))
        if im(p) < -0.5:
            raise Worse(code=7, level=im(p) * 3)
    except Worse as e:
        return e.worse(2) + len(e.args)
    except Bad as e:
        return e.worse(10)
    return 0.0


@program
def arguments_in_a_loop_of_the_device(im: Image, p: Position):
    t, k = 0.0, 0
    while k < p.x + 4:
        try:
            v = im(p + (k, 0))
            if v > 0.3:
                raise ValueError(f"too {v:.2f}", v, k)
            if v < -1:
                raise KeyError(k)
            t += v
        except ValueError as e:
            t += e.args[1] * e.args[2]
        except KeyError as e:
            t -= e.args[0]
            if e.args[0] > 2:
                break
        k += 1
    return t, k


@program
def arguments_of_one_of_several(im: Image, p: Position):
    try:
        if p.x == 1:
            raise ValueError("v", im(p))
        if p.x == 2:
            raise KeyError("k", p.y)
        if p.x == 3:
            raise IndexError()
    except (ValueError, KeyError) as e:
        return e.args[1] + len(e.args) + isinstance(e, KeyError) * 10
    except IndexError as e:
        return -1.0 - len(e.args)
    return 5.0


@program
def exception_made_before(im: Image, p: Position):
    err = Bad(3, im(p))
    err.extra = p.x
    try:
        if im(p) > 0:
            raise err
        return -1.0
    except Bad as e:
        e.level += 1
        return e.level + e.extra + err.level


@program
def attribute_of_a_cause(im: Image, p: Position):
    def parse(v):
        try:
            if v > 0.2:
                raise Bad(1, v)
            return v
        except Bad as e:
            raise RuntimeError("outer", p.y) from e

    try:
        return parse(im(p))
    except RuntimeError as e:
        c = e.__cause__
        return c.level * 100 + e.args[1]


@program
def cause_that_is_known(im: Image, p: Position):
    try:
        try:
            return math.sqrt(im(p))
        except ValueError as e:
            raise LookupError("no root") from e
    except LookupError as e:
        return -5.0 - isinstance(e.__cause__, ValueError) - (e.__cause__ is None)


@program
def cause_that_is_none(im: Image, p: Position):
    try:
        try:
            q = 1 / p.x
        except ZeroDivisionError:
            raise Bad(2, im(p)) from None
    except Bad as e:
        return e.level + (e.__cause__ is None)
    return q


@program
def exception_changed_and_raised_again(im: Image, p: Position):
    log = 0

    def f(v):
        nonlocal log
        try:
            if v > 0:
                raise Bad(4, v)
        except Bad as e:
            log += 1
            e.level *= 2
            raise
        finally:
            log += 10
        return v

    try:
        r = f(im(p))
    except Bad as e:
        r = e.level + 100
    return r, log


@program
def class_and_text_of_what_was_raised(im: Image, p: Position):
    try:
        if im(p) > 0:
            raise Worse(1, im(p))
        raise Named(im(p))
    except Exception as e:
        k = 1 if type(e) is Worse else 2
        return (
            k
            + len(type(e).__name__)
            + (e.level if isinstance(e, Bad) else e.args[0])
            + (10 if str(e) == "named" else 0)
            if not isinstance(e, Bad)
            else k + e.level
        )


@program
def attribute_in_an_exit(im: Image, p: Position):
    class Guard:
        def __enter__(self):
            return self

        def __exit__(self, t, e, tb):
            if t is not None and issubclass(t, Bad):
                self.seen = e.level
                return True
            self.seen = -1.0

    g = Guard()
    with g:
        if im(p) > 0:
            raise Bad(1, im(p))
    return g.seen


@program
def exception_that_carries_a_result(im: Image, p: Position):
    class Found(Exception):
        def __init__(self, where, value):
            self.where, self.value = where, value

    try:
        for j in range(3):
            for i in range(3):
                if im(p + (i, j)) > 0.7:
                    raise Found((i, j), im(p + (i, j)))
    except Found as f:
        (i, j), v = f.where, f.value
        return i + 10 * j + v
    return -1.0


@program
def property_that_has_no_value(im: Image, p: Position):
    class Signed:
        asked = 0

        @property
        def root(self):
            self.asked += 1
            if im(p) < 0:
                raise AttributeError
            return math.sqrt(abs(im(p)))

    class Standing(Signed):
        def __getattr__(self, name):
            return len(name) + im(p)

    signed, standing = Signed(), Standing()
    found = getattr(signed, "root", -1.0), hasattr(signed, "root"), standing.root, standing.other
    return *found, getattr(standing, "root", -5.0), signed.asked, standing.asked


@contextlib.contextmanager
def _pushed(stack, value):
    stack.append(value)
    try:
        yield stack[-1]
    finally:
        stack.pop()


@program
def contexts_made_of_generators_with_known_arguments(im: Image, p: Position):
    stack = [1.0]
    v = im(p)
    with _pushed(stack, 2.0) as gain:
        v *= gain
        with _pushed(stack, 3.0):
            v += sum(stack)
    return v + len(stack)


@program
def what_was_done_before_an_exception_stays_done(im: Image, p: Position):
    log = []

    def logged(k):
        log.append(k)
        if k == 2:
            raise IndexError
        return k * im(p)

    class Logged:
        def __init__(self, k):
            self.k = logged(k)

    def some():
        yield from map(logged, range(3))

    def one():
        log.append(im(p))
        yield 2
        log.append(5)

    caught = 0
    for run in (lambda: Logged(2), lambda: sum(some()), lambda: list(some()), lambda: {*some()}):
        try:
            run()
        except IndexError:
            caught += 1
    items = one()
    first = next(items)
    try:
        next(items)
    except StopIteration:
        caught += 1
    return first + caught * 10 + sum(log) + 100 * len(log)


@program
def generator_that_raises_in_a_loop_over_it(im: Image, p: Position):
    log = []

    def some(count):
        for k in range(count):
            log.append(k)
            yield k * im(p)
        raise KeyError("ended")

    def summed():
        total = 0
        for v in some(3):
            total += v
        return total

    total = 0
    try:
        total += summed()
    except KeyError:
        total += 50
    try:
        for v in some(2):
            for u in some(1):
                total += v + u
    except KeyError:
        total += 7
    return total + len(log) * 100


@contextlib.contextmanager
def _noted(log, value):
    log.append(value)
    yield value * 2
    log.append(-value)


@program
def contexts_made_of_generators_do_what_follows_the_yield(im: Image, p: Position):
    log = []

    @contextlib.contextmanager
    def forgiving(k):
        """Goes on after a ValueError."""
        try:
            yield k
        except ValueError:
            log.append(k)

    with _noted(log, im(p)) as twice:
        total = twice
    with forgiving(im(p)) as v:
        total += v
        if v > 0.5:
            raise ValueError
        total += 1
    return total + len(log) * 10 + log[1] * 100


@program
def items_that_may_raise(counts: Image, p: Position):
    try:
        folded = sum(12 // (3 - k) for k in range(counts(p)))
    except ZeroDivisionError:
        folded = -1
    try:
        xs = [12 // (4 - k) for k in range(counts(p) & 7)]
    except ZeroDivisionError:
        xs = [7]
    return folded, sum(xs), len(xs)


@program
def keys_that_are_not_there(counts: Image, p: Position):
    n, members = counts(p), {2, 3}
    try:
        found = {1: 10, 2: 20}[n]
    except KeyError as error:
        found = error.args[0] * 100
    try:
        members.remove(n)
    except KeyError as error:
        (missing,) = error.args
        found += missing * 1000
    try:
        found += {"a": 1, "b": 2}["abcdefgh"[n]]
    except KeyError as error:
        found += 5 if error.args[0] == "d" else 7
    try:
        first = next(iter([4, 5, 6][n:]))
    except StopIteration as error:
        first = len(error.args)
    try:
        found += d.pop(n) + ["a", "b"].index("abcdefgh"[n]) if (d := {1: 1, 2: 2}) else 0
    except (KeyError, ValueError) as error:
        found += 0.5 if isinstance(error, KeyError) and error.args[0] == n else 0.25
    return found, first, len(members)


@program
def texts_of_exceptions(counts: Image, p: Position):
    n, said = counts(p), ""
    lengths = 0
    xs = [1, 2][: n - 2]
    for _ in range(1):
        try:
            lengths += 12 // (n - 3) + 12 % (n - 4)
        except ZeroDivisionError as error:
            said = str(error)
            lengths += len(said)
        try:
            lengths += 1.0 / (n - 3.0)
        except ZeroDivisionError as error:
            lengths += 100 * len(str(error))
        try:
            lengths += [1, 2, 3][n]
        except IndexError as error:
            lengths += 1000 * len(error.args[0])
        try:
            lengths += (1, 2, 3, 4)[n]
        except IndexError as error:
            lengths += 10000 * len(error.args[0])
        try:
            lengths += xs.pop()
        except IndexError as error:
            lengths += 0.01 * len(str(error))
        try:
            [1, 2, 3, 4].remove(n)
        except ValueError as error:
            lengths += 0.1 * len(str(error))
        try:
            lengths += max([k for k in range(4) if k > n])
        except ValueError as error:
            lengths += 7 * len(str(error))
    return lengths


@program
def powers_beyond_what_floats_hold(ints: Image, p: Position):
    n, beyond = ints(p), 0
    try:
        power = min(2.0 ** (n * 100.0), 3.0)
    except OverflowError:
        power, beyond = 7.0, 1
    try:
        power += math.pow(n * 1e20, 20.0) * 0.0 if abs(n) < 0 else 1.0
        power += 0.0 * min(math.pow(abs(n), 200.0), 1.0)
    except OverflowError:
        beyond += 10
    return power, beyond, n**2


@program
def arguments_that_may_be_zero(counts: Image, im: Image, p: Position):
    n = counts(p)
    try:
        power = pow(n, 2, n % 3)
    except ValueError as error:
        power = len(str(error))
    try:
        steps = len([1 for _ in range(0, 5, n % 3)])
    except ValueError as error:
        steps = len(error.args[0])
    try:
        power += 100 * pow(n, 2, 0)
    except ValueError:
        power += 1000
    v = im(p) * 1e38 if n > 2 else math.inf
    whole = v.is_integer() if n <= 2 else False
    return (
        power,
        steps,
        whole,
        round(im(p) * 2.0**100, 2) / 2.0**90,
        math.dist((v, 1.0), (v, 5.0)) if n > 2 else 0,
    )


@program
def texts_of_functions_of_numbers(ints: Image, p: Position):
    n, lengths = ints(p) % 7 - 3, 0
    try:
        lengths += math.factorial(n)
    except ValueError as error:
        lengths += len(str(error))
    try:
        lengths += 100 * math.comb(n, 2) + math.perm(5, n)
    except ValueError as error:
        lengths += 10 * len(str(error))
    try:
        lengths += 0.0**n
    except ZeroDivisionError as error:
        lengths += 1000 * len(str(error))
    try:
        lengths += round((math.inf if n > 1 else math.nan) if n > 0 else 7.4)
    except OverflowError:
        lengths += 0.25
    except ValueError:
        lengths += 0.5
    return lengths


class _Few(ValueError):
    pass


class _Many(Exception):
    def __init__(self, count):
        super().__init__(count)
        self.count = count


@program
def one_of_several_exceptions_raised(counts: Image, p: Position):
    kinds = [ValueError, KeyError, IndexError]
    try:
        raise kinds[counts(p) % 3]
    except KeyError:
        first = 1
    except (ValueError, IndexError):
        first = 2
    try:
        raise _Few(counts(p)) if counts(p) % 2 else _Many(5)
    except ValueError:
        second = 1
    except _Many as error:
        second = error.count
    either = ValueError("text") if counts(p) % 2 else KeyError
    try:
        raise either
    except KeyError:
        third = 1
    except ValueError as error:
        third = len(str(error))
    return first, second, third


class Empty(Exception):
    def __bool__(self):
        return False

    def __len__(self):
        return 3

    def __add__(self, other):
        return other + 7


@program
def truth_of_exceptions(im: Image, p: Position):
    try:
        if im(p) > 0:
            raise Empty(im(p))
        return 1.0
    except Empty as error:
        return len(error) + (error + 1) if error else error + im(p)


class Several(Exception):
    def __iter__(self):
        return iter(self.args)


@program
def an_exception_that_is_iterated(ints: Image, p: Position):
    try:
        raise Several(ints(p), 2)
    except Several as e:
        a, b = e
        return a + b, sum(e), list(e)[0], 2 in e


def _raised(of, *args):
    try:
        return of(*args)
    except (OverflowError, ZeroDivisionError, IndexError) as error:
        return -2.0 if isinstance(error, OverflowError) else -4.0
    except ValueError:
        return -3.0


@program
def functions_of_the_infinite(unit: Image, p: Position):
    x = unit(p) * 2 - 1
    far = math.inf if x > 0.25 else -math.inf if x < -0.25 else 2000.0
    exponentials = _raised(math.exp, far), _raised(math.expm1, far), _raised(math.cosh, far)
    return (
        *(value if value < 1 else 5.0 for value in exponentials),
        _raised(lambda: min(math.gamma(far), 9.0)),
        *(_raised(math.fmod, far, 7.0), _raised(math.remainder, far, 7.0)),
        *(_raised(math.log, 2.0, x), _raised(math.log, 2.0, 1.0 + abs(x))),
        *(_raised(pow, int(x * 3), -1, 3), _raised(min, range(int(x * 3)))),
        _raised(statistics.geometric_mean, [x, 2.0]),
    )


@program
def logarithms_and_powers_of_complex_zeros(ints: Image, p: Position):
    n = ints(p)
    z = complex(max(n, 0), 0)
    made = [_raised(lambda f=f: f(z).real) for f in (cmath.log, cmath.log10, cmath.atanh)]
    bases = _raised(lambda: cmath.log(2j, z).real), _raised(lambda: abs(z ** min(n, 2)))
    return *(made if z.real != 0 else [-3.0 + k for k in range(len(made))]), *made[:2], *bases


@program
def methods_of_operators_raise(ints: Image, p: Position):
    n = ints(p)
    m = n & 3
    return (
        *(_raised(n.__floordiv__, m), _raised(n.__mod__, m), _raised(m.__rmod__, 7)),
        *(_raised(n.__truediv__, m), _raised(float(n).__mod__, float(m)), _raised(m.__lshift__, n)),
        *(_raised(int.from_bytes, [n], "big"), _raised(int.from_bytes, [m, n], "little")),
    )


def _told(f, z):
    try:
        f(z)
    except ValueError:
        return -1
    except OverflowError:
        return -2
    return 1


@program
def exponentials_of_infinite_and_large_complex_numbers(im: Image, p: Position):
    ends = [0.5, math.inf, -math.inf, math.nan, 1.0, -2.0, 0.0]
    large, turns = [0.0, 709.0, 709.7, 710.0, 710.2, 711.0, -710.6], [0.0, 0.8, 1.5, 3.0, -40.0]
    z = complex(ends[p.x % 7], ends[p.y % 7])
    w = complex(large[p.x % 7], turns[p.y % 5])
    all_of_them = cmath.exp, cmath.cosh, cmath.sinh, cmath.tanh, cmath.cos, cmath.sin, cmath.tan
    return *[_told(f, z) for f in all_of_them], *[_told(f, w) for f in all_of_them[:4]]
