"""Exceptions and contexts: `try` in all its forms, `with`."""

import contextlib

from .cases import on


def inverse(x):
    if x > 90:
        raise ValueError("too much")
    return 1 / x


class Noted:
    def __init__(self, log, swallows):
        self.log, self.swallows = log, swallows

    def __enter__(self):
        self.log.append("in")
        return self.log

    def __exit__(self, kind, error, trace):
        self.log.append(kind and kind.__name__)
        return self.swallows


@on((2,), (0,))
def one_handler(a):
    try:
        b = 1 / a
    except ZeroDivisionError:
        b = -1
    return b


@on((2,), (0,), (99,))
def several_handlers(a):
    try:
        b = inverse(a)
    except (KeyError, ZeroDivisionError):
        b = -1
    except ValueError as error:
        b = str(error)
    return b


@on((2,), (0,), (99,))
def handler_else_and_finally(a):
    log = []
    try:
        b = inverse(a)
    except ZeroDivisionError:
        b = -1
        log.append("handled")
    except ValueError:
        return log, "left"
    else:
        log.append("else")
    finally:
        log.append("finally")
    return b, log


@on((2,), (0,), (99,))
def handlers_in_handlers(a):
    try:
        try:
            b = inverse(a)
        except ValueError:
            b = inverse(0)
        b += 1
    except ZeroDivisionError:
        b = -1
    return b


@on((2,), (0,), (99,))
def raised_again(a):
    try:
        try:
            return inverse(a)
        except ValueError:
            raise
        except ZeroDivisionError as error:
            raise KeyError(a) from error
    except Exception as error:
        return type(error).__name__


@on(([4, 0, 2, 99, 1],), ([],))
def handler_in_a_loop(xs):
    total = 0
    for x in xs:
        try:
            total += inverse(x)
        except ZeroDivisionError:
            continue
        except ValueError:
            break
        finally:
            total += 10
    else:
        total = -total
    return total


@on((5,), (0,))
def loop_in_a_body(n):
    i = 9
    try:
        while i > -5:
            i -= 1
            n + inverse(i)
    except ZeroDivisionError:
        n = -n
    return i, n


@on(([1, 2],), ([1, 0],))
def comprehension_in_a_body(xs):
    x = 7
    try:
        y = [1 / x for x in xs]
    except ZeroDivisionError:
        y = x
    return x, y


@on((2,), (0,))
def contexts(a):
    log = []
    with Noted(log, True) as seen, contextlib.nullcontext(3) as three:
        seen.append(three / a)
    with contextlib.suppress(ZeroDivisionError):
        log.append(1 / a)
        return log
    return log, a


@on((2,), (0,))
def context_that_lets_pass(a):
    log = []
    try:
        with Noted(log, False):
            log.append(1 / a)
    except ZeroDivisionError:
        log.append("after")
    return log


@on((2,), (0,))
def returned_from_within(a):
    try:
        if a:
            return "body"
        raise KeyError
    except KeyError:
        return "handler"
    finally:
        a = 4
