"""What calls of known values make: closures, objects and lists in tuples are the function's own, and
what is done to them under a condition happens where it holds."""

import ast
import collections
import hashlib
import io
import operator

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position

program = Suite()


class Tally:
    def __init__(self):
        self.count = 0

    def add(self):
        self.count += 1


def counter():
    n = 0

    def count():
        nonlocal n
        n += 1
        return n

    return count


def logger():
    notes = []

    def log(x):
        notes.append(x)
        return x

    return log, notes


def account(balance):
    def deposit(amount):
        nonlocal balance
        balance += amount

    def left():
        return balance

    return {"deposit": deposit, "left": left}


def two():
    return Tally(), Tally()


def arrays():
    return np.zeros(3), [1.0, 2.0]


Pair = collections.namedtuple("Pair", "tally items")


def named():
    return Pair(Tally(), [0.5])


def remembering(function):
    seen = {}

    def remembered(x):
        if x not in seen:
            seen[x] = function(x)
        return seen[x]

    return remembered, seen


def collected(items=None):
    def collect(x, into=[] if items is None else items):
        into.append(x)
        return len(into)

    return collect


def nodes():
    first = {"next": None, "value": 1.0}
    first["next"] = {"next": first, "value": 2.0}
    return first, first["next"]


@program
def counted_by_a_closure(im: Image, p: Position):
    count = counter()
    for dx in range(3):
        if im(p + (dx, 0)) > 0.5:
            count()
    return count()


@program
def noted_by_a_closure(im: Image, p: Position):
    log, notes = logger()
    if im(p) > 0.5:
        log(1.0)
    log(im.channels)
    return sum(notes)


@program
def closures_that_share_a_variable(im: Image, p: Position):
    ours = account(10)
    if im(p) > 0.5:
        ours["deposit"](5)
    return ours["left"]()


@program
def objects_of_a_tuple(im: Image, p: Position):
    a, b = two()
    if im(p) > 0.5:
        a.add()
    return a.count, b.count


@program
def arrays_of_a_tuple(im: Image, p: Position):
    zeros, items = arrays()
    if im(p) > 0.5:
        zeros[1] += im(p)
        items[0] = zeros[1]
    return zeros[1], items[0]


@program
def fields_of_a_named_tuple(im: Image, p: Position):
    pair = named()
    if im(p) > 0.5:
        pair.tally.add()
        pair.items.append(im(p))
    return pair.tally.count + (pair.items[1] if len(pair.items) > 1 else 0)


@program
def what_a_closure_remembers(im: Image, p: Position):
    square, seen = remembering(lambda x: x * x)
    total = 0
    if im(p) > 0.5:
        total = square(3)
    return total + square(im.channels), len(seen)


@program
def default_of_a_closure(im: Image, p: Position):
    collect = collected()
    if im(p) > 0.5:
        collect(1)
    return collect(2)


@program
def objects_that_hold_each_other(im: Image, p: Position):
    a, b = nodes()
    if im(p) > 0.5:
        a["value"] = im(p)
    return b["next"]["value"] + b["value"]


@program
def objects_of_c_are_changed_where_they_are_made(counts: Image, p: Position):
    whole = hashlib.md5()
    for number in range(3):
        whole.update(bytes([number]))
    total = 0
    for _ in range(p.x):
        each = hashlib.sha1()
        each.update(b"x")
        total += each.digest()[0]
    if counts(p) > 1:
        own = hashlib.sha1()
        own.update(b"abc")
        total += own.digest()[1] * 1000
    return total, whole.digest()[3]


@program
def texts_written_and_read_as_files(im: Image, p: Position):
    written = io.StringIO()
    written.write("1 2\n")
    print(3, 4, file=written)
    total = 0.0
    for line in io.StringIO(written.getvalue()):
        first, second = line.split()
        total += float(first) * im(p) + int(second)
    return total, len(written.getvalue())


@program
def expressions_parsed(im: Image, p: Position):
    names = {"x": im(p), "y": 0.5}
    operators = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}

    class Evaluation(ast.NodeVisitor):
        def visit_BinOp(self, node):
            left, right = self.visit(node.left), self.visit(node.right)
            return operators[type(node.op)](left, right)

        def visit_Name(self, node):
            return names[node.id]

        def visit_Constant(self, node):
            return node.value

    return Evaluation().visit(ast.parse("x * 2 - (y + x)", mode="eval").body)


def _in_a_dict(xs):
    return {"xs": xs}


def _logging_to(xs):
    return lambda value: xs.append(value)


def _one_more(f):
    def more(n):
        return f(n) + 1

    return more


@program
def lists_that_known_calls_hand_on_are_the_same(counts: Image, p: Position):
    a = [1, 2]
    held, log = _in_a_dict(a), _logging_to(a)
    a.append(3)
    log(5)
    if counts(p) > 2:
        held["xs"].append(7)
    return sum(a), len(held["xs"]), held["xs"] is a


@program
def functions_that_known_calls_hand_on_share_their_variables(counts: Image, p: Position):
    @_one_more
    def depth(n):
        return 0 if n < 1 else depth(n - 1)

    def scaled(n):
        return n * k

    k = 2
    more = _one_more(scaled)
    k = 3
    return depth(3), more(counts(p)), more(2)
