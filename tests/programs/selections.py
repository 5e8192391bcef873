"""What masks select, the places where a condition holds, different elements: arrays of which only
the device knows how long they are. And NumPy's functions that go with them."""

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position

program = Suite()


def row(im, p, n=8):
    return np.array([im(p + (k, 0)) for k in range(n)])


def window(im, p, r=1):
    return np.array([[im(p + (dx, dy)) for dx in range(-r, r + 1)] for dy in range(-r, r + 1)])


@program
def extremes_and_their_places(unit: Image, p: Position):
    x = row(unit, p)
    s = x[x > 0.2]
    return (s.argmax(), np.argmin(s), s[s.argmax()]) if len(s) else (-1, -1, -1.0)


@program
def indices_and_slices(unit: Image, p: Position):
    x = row(unit, p)
    s = x[x > 0.3]
    if s.size < 3:
        return (0.0, 0.0, 0.0, 0.0)
    return (s[0], s[-1], s[1:].sum(), s[:-1].max() + s[:2].sum() + s[::-1][0])


@program
def middle_of_what_was_selected(unit: Image, p: Position):
    x = row(unit, p)
    s = x[x > 0.3]
    return s[len(s) // 2] if len(s) > 0 else 0.0


@program
def selected_again(unit: Image, p: Position):
    x = row(unit, p)
    s = x[x > 0.3]
    t = s[s < 0.8]
    return (t.sum(), len(t), s[s < s.mean()].max(initial=0))


@program
def sorted_selection(unit: Image, p: Position):
    x = row(unit, p)
    s = np.sort(x[x > 0.3])
    return (s[len(s) // 2] if s.size else 0.0, s.sum(), (s[1:] - s[:-1]).max(initial=0))


@program
def sorted_selection_of_integers(ints: Image, p: Position):
    x = row(ints, p)
    s = np.sort(x[x > 0])
    return (s[0] if s.size else -1, np.argsort(x[x > 0], kind="stable")[0] if s.size else -1)


@program
def differences_and_running_sums(unit: Image, p: Position):
    x = row(unit, p)
    s = x[x > 0.3]
    return (
        np.diff(s).sum(),
        np.cumsum(s)[-1] if s.size else 0.0,
        np.cumsum(s).max(initial=0),
        np.cumprod(s).sum(),
    )


@program
def zipped_selections(unit: Image, p: Position):
    x = row(unit, p)
    y = row(unit, p + (0, 1))
    m = x > 0.4
    t = 0.0
    for a, b in zip(x[m], y[m]):
        t += a * b
    u = sum((a - b for a, b in zip(x[x > 0.5], y[y > 0.3])))
    v = sum((k * a for k, a in enumerate(x[m])))
    return (t, u, v)


@program
def where_of_a_condition_alone(unit: Image, p: Position):
    x = row(unit, p)
    idx = np.where(x > 0.4)[0]
    return (len(idx), idx[0] if len(idx) else -1, x[idx].sum(), idx.sum())


@program
def peaks_of_a_row(unit: Image, p: Position):
    x = row(unit, p)
    idx = np.where((x[1:-1] > x[:-2]) & (x[1:-1] > x[2:]))[0] + 1
    return (len(idx), x[idx].sum(), np.diff(idx).sum(), x[idx - 1].sum() + x[idx + 1].sum())


@program
def places_of_a_row(unit: Image, p: Position):
    x = row(unit, p)
    (i,) = np.nonzero(x > 0.4)
    j = np.flatnonzero(x > 0.4)
    k = (x > 0.4).nonzero()[0]
    return (i.sum(), j.max(initial=-1), k.size, i[-1] if i.size else -1)


@program
def places_in_a_window(unit: Image, p: Position):
    w = window(unit, p)
    ys, xs = np.nonzero(w > 0.4)
    return (
        ys.mean() if len(ys) else -1.0,
        xs.mean() if len(xs) else -1.0,
        w[ys, xs].sum(),
        np.hypot(xs - 1, ys - 1).sum(),
    )


@program
def places_as_rows(unit: Image, p: Position):
    w = window(unit, p)
    pts = np.argwhere(w > 0.4)
    if len(pts) == 0:
        return (0.0, 0.0, 0, 0.0)
    cy, cx = pts.mean(axis=0)
    return (cy, cx, pts[:, 1].max(), np.linalg.norm(pts - 1, axis=1).sum())


@program
def places_of_a_row_as_rows(unit: Image, p: Position):
    x = row(unit, p)
    pts = np.argwhere(x > 0.4)
    return (pts.sum(), len(pts), pts.shape[0], pts.ravel().sum())


@program
def rows_by_a_mask(vecs: Image, p: Position):
    pts = np.array([vecs(p + (k, 0)) for k in range(5)])
    g = pts[pts[:, 0] > 0]
    if len(g) == 0:
        return (0.0, 0.0, 0.0, 0.0)
    return (g.mean(axis=0)[1], g.sum(), g[:, 2].max(), (g**2).sum(axis=1).max())


@program
def centroid_of_selected_rows(vecs: Image, p: Position):
    pts = np.array([vecs(p + (k, 0)) for k in range(5)])
    g = pts[np.linalg.norm(pts, axis=1) < 2]
    if not len(g):
        return 0.0
    d = g - g.mean(axis=0)
    return np.sqrt((d**2).sum(-1)).max()


@program
def loop_over_selected_rows(vecs: Image, p: Position):
    pts = np.array([vecs(p + (k, 0)) for k in range(5)])
    t = 0.0
    for v in pts[pts[:, 0] > 0]:
        t += v[1] * v[2]
    for x, y, z in pts[pts[:, 1] > 0]:
        t += x - z
    return t


@program
def stored_at_places(unit: Image, p: Position):
    x = row(unit, p)
    x[np.where(x > 0.4)[0]] = 0
    y = row(unit, p)
    i = np.flatnonzero(y < 0.5)
    y[i] += 1
    y[i + 0] *= 2.0
    w = window(unit, p)
    r, c = np.where(w < 0.3)
    w[r, c] = -1
    return (x.sum(), y.sum(), w.sum())


@program
def different_elements(counts: Image, p: Position):
    w = window(counts, p).ravel()
    u = np.unique(w)
    v, c = np.unique(w, return_counts=True)
    return (len(u), u[0], u[-1], v[np.argmax(c)], c.max(), u.size)


@program
def entropy_of_different_elements(counts: Image, p: Position):
    _, c = np.unique(window(counts, p), return_counts=True)
    q = c / c.sum()
    return (-(q * np.log2(q)).sum(), -np.sum(q * np.log(q)))


@program
def different_elements_and_their_places(counts: Image, p: Position):
    w = window(counts, p).ravel()
    u, i, inv = np.unique(w, return_index=True, return_inverse=True)
    return (i.sum(), inv[4], u[inv].sum(), inv.max())


@program
def different_floats(unit: Image, p: Position):
    u = np.unique(window(unit, p))
    return (u.sum(), np.diff(u).min(initial=9), u.size)


@program
def counts_of_small_integers(counts: Image, p: Position):
    w = window(counts, p).ravel()
    return (
        np.bincount(w, minlength=8).max(),
        np.bincount(w).argmax(),
        np.bincount(w, minlength=9)[3],
        len(np.bincount(w)),
    )


@program
def entropy_of_counts(counts: Image, p: Position):
    h = np.bincount(window(counts, p).ravel(), minlength=8)
    q = h[h > 0] / h.sum()
    return -np.sum(q * np.log2(q))


@program
def weighted_counts(counts: Image, unit: Image, p: Position):
    h = np.bincount(window(counts, p).ravel(), weights=window(unit, p).ravel(), minlength=8)
    return (h[counts(p)], h.sum(), h.argmax())


@program
def weighted_selection(unit: Image, p: Position):
    x = row(unit, p)
    w = np.linspace(1, 2, 8)
    m = x > 0.3
    if not m.any():
        return (0.0, 0.0, 0.0, 0.0)
    return (
        np.average(x[m], weights=w[m]),
        np.dot(x[m], w[m]),
        np.median(x[m]),
        np.percentile(x[m], 75),
    )


@program
def norms_and_products(unit: Image, p: Position):
    x = row(unit, p)
    s = x[x > 0.3]
    return (np.linalg.norm(s), np.ptp(s) if s.size else 0.0, s @ s, np.count_nonzero(s > 0.6))


@program
def folds_along_the_axis(unit: Image, p: Position):
    x = row(unit, p)
    s = x[x > 0.3]
    return (
        s.sum(axis=0),
        s.mean(axis=-1) if s.size else 0.0,
        np.sum(s, axis=0),
        len(list(s)),
        s.tolist()[0] if len(s) else 0.0,
    )


@program
def histogram_and_copies(unit: Image, p: Position):
    x = row(unit, p)
    s = x[x > 0.3]
    return (
        np.histogram(s, bins=4, range=(0, 1))[0].max(),
        s.copy().sum(),
        s.astype(int).sum(),
        np.array(s).sum(),
        np.concatenate([s, [1.0]]).sum(),
    )


@program
def places_that_may_be_none(unit: Image, p: Position):
    x = row(unit, p)
    i = np.where(x > 0.9)[0]
    j = np.where(x > 0.9)
    return (0 if i.size == 0 else i[0], len(j[0]) > 0, x[j].sum())


@program
def extracted(unit: Image, p: Position):
    x = row(unit, p)
    return (
        np.extract(x > 0.4, x).sum(),
        np.compress(x > 0.4, x).sum(),
        x[np.nonzero(x > 0.4)].sum(),
    )


@program
def sets_of_elements(counts: Image, p: Position):
    a, b = (row(counts, p), row(counts, p + (0, 1)))
    return (len(np.intersect1d(a, b)), np.union1d(a, b).sum(), np.setdiff1d(a, b).size)


@program
def while_loop_over_a_selection(unit: Image, p: Position):
    x = row(unit, p)
    s = np.sort(x[x > 0.3])
    i = 0
    t = 0.0
    while i < len(s):
        t += s[i] * i
        i += 1
    return t


@program
def indices_up_to_the_length(unit: Image, p: Position):
    x = row(unit, p)
    s = x[x > 0.3]
    t = 0.0
    for i in range(len(s)):
        t += s[i] * i
    for i in range(s.shape[0] - 1):
        t += abs(s[i + 1] - s[i])
    return t


@program
def differences_of_all_kinds(im: Image, mask: Image, p: Position):
    x = row(im, p)
    m = np.array([mask(p + (k, 0)) for k in range(6)])
    return (
        np.diff(m).sum(),
        np.diff(np.signbit(x)).sum(),
        np.diff(x, prepend=0).sum(),
        np.diff(window(im, p), axis=0).max(),
        np.diff(x, 2).max(),
        np.diff(window(im, p), n=1, axis=1, append=9.0)[1, 2],
    )


@program
def unwrapped_phases(im: Image, p: Position):
    x = 4 * row(im, p)
    return (
        np.unwrap(x)[-1],
        np.unwrap(window(im, p) * 4, axis=0)[2, 1],
        np.unwrap(x, period=3.0)[3],
        np.unwrap(x, discont=4.0)[-1],
    )


@program
def running_sums_without_nan(unit: Image, p: Position):
    x = row(unit, p)
    x[x > 0.5] = np.nan
    return (np.nancumsum(x)[-1], np.nancumprod(x)[3], np.nancumsum(window(unit, p), axis=1)[2, 2])


@program
def arrays_alike_of_a_dtype(im: Image, p: Position):
    w = window(im, p)
    return (
        np.zeros_like(w, int)[0, 0]
        + np.ones_like(w, bool)[0, 0]
        + 5 // (np.ones_like(w, int)[1, 1] * 2),
        np.zeros_like(w, bool).any(),
    )


@program
def selections_put_together(unit: Image, p: Position):
    x = row(unit, p)
    s = x[x > 0.3]
    return (
        np.concatenate([s, [1.0]]).sum(),
        np.append(s, x[:2]).mean(),
        np.hstack((x, s)).size,
        np.concatenate((s, x[x < 0.5]))[-1],
    )


@program
def quantiles_of_a_selection(unit: Image, p: Position):
    x = row(unit, p)
    s = x[x > 0.2]
    if s.size == 0:
        return (0.0, 0.0, 0.0)
    return (np.percentile(s, 25), np.quantile(s, 0.9), np.median(s))


@program
def normalised_selection(unit: Image, p: Position):
    x = row(unit, p)
    s = x[x > 0.2]
    if s.size < 2:
        return (0.0, 0.0)
    z = (s - s.mean()) / (s.std() + 0.001)
    return (np.abs(z).max(), z[np.abs(z) < 1].size)


@program
def items_taken_one_after_the_other(unit: Image, p: Position):
    bright = (v for v in (unit(p + (i, 0)) for i in range(4)) if v > 0.5)
    return (next(bright, 0.0), next(bright, -1.0), sum(bright))


@program
def first_item_or_another(unit: Image, p: Position):
    bright = (v for v in (unit(p + (i, 0)) for i in range(4)) if v > 0.5)
    try:
        return next(bright)
    except StopIteration:
        return -5.0


@program
def masks_beside_other_indices(im: Image, counts: Image, p: Position):
    a = np.arange(12.0).reshape(3, 4) * 0.25 * im(p)
    deep = np.stack([a, a + 1])
    n, some = abs(counts(p)) % 3, np.array([True, False, True, True])
    wide = a[0] > 0.1
    row, column, both = a[1, wide], a[a[:, 1] > 0.2, n], deep[1, a > 0.5]
    known = a[n, some].sum(), a[some[1:], n].sum()
    read = row.sum(), a[n, wide].sum(), column.sum(), both.sum(), *known
    a[1, wide] = 9
    a[n, a[n] > 0.3] -= 1
    a[:, np.nonzero(wide)[0]] = 2
    return *read, deep[0, :, wide].sum(axis=0)[1], a.sum(), (a @ np.arange(4)).sum()


@program
def columns_that_a_mask_leaves(im: Image, p: Position):
    a = np.arange(12.0).reshape(3, 4) * im(p)
    some = a[:, 1] > 1
    return (
        np.compress(some, a, axis=0).sum(),
        a.T[a[0] > 0.5].sum(),
        np.compress(some, a[:, 2]).sum(),
    )


@program
def what_is_stored_for_all_that_are_selected(unit: Image, p: Position):
    one, none, some = np.array([unit(p)]), np.array(unit(p)), np.array([unit(p), 0.125, 0.75])
    one[one < 0.5] = np.array(9.0)
    none[none < 0.5] = np.array(9.0)
    some[some < 0.25] = [9.0]
    some[some > 5] += np.array([1.0])
    return one[0], none, some[0], some[1], some[2]


@program
def rows_that_are_selected(unit: Image, p: Position):
    rows = np.array([[unit(p), 1], [0.125, 2], [0.5, 3]])
    other = rows * 10
    rows[rows[:, 0] < 0.25] = np.array([8.0, 9.0])
    first = rows.sum()
    rows[rows[:, 1] > 1] *= 2
    chosen = rows[:, 0] > 1
    rows[chosen] = other[chosen]
    return first, rows[0, 0], rows[1, 1], rows[2, 0], rows[2, 1]


@program
def functions_where_a_mask_holds(im: Image, ints: Image, p: Position):
    y = np.array([im(p), im(p + (1, 0)), 0.25])
    np.multiply(y, 2, out=y, where=y > 0.25)
    roots = np.sqrt(y, out=np.zeros(3), where=y > 0)
    parts = np.divide(1, y, out=np.full_like(y, 9), where=y != 0)
    one = np.divide(1, im(p), out=np.zeros(()), where=im(p) > 0.5)
    counts = np.array([ints(p), 3])
    np.add(counts, [[1], [2]], out=(rows := np.zeros((2, 2), int)), where=[True, ints(p) > 0])
    total = np.add.reduce([im(p), 2.0, 3.0], where=[im(p) > 0.3, True, False])
    return *y, *roots, *parts, one, *rows[0], *rows[1], total


@program
def folds_where_a_mask_of_the_selected_holds(unit: Image, p: Position):
    w = np.array([unit(p), unit(p + (1, 0)), 0.25, 0.5])
    some = w[w > 0.2]
    kept = np.array([v for v in w if v > 0.3])
    return (
        *(np.sum(some, where=some > 0.4), np.max(some, where=some < 0.6, initial=0)),
        *(np.mean(some, where=some >= 0.25), np.any(some, where=some > 0.9)),
        *(np.sum(kept, where=kept < 0.8), np.min(kept, where=kept > 0.6, initial=7)),
        some.sum(dtype=int, where=some > 0.4),
    )


@program
def slices_from_the_end_of_what_was_selected(im: Image, p: Position):
    xs = [i for i in range(6) if i * p.x > 4]
    return (
        *(len(xs[-3:-1]), sum(xs[-3:-1]), len(xs[-2:-2]), sum(xs[-4:-1:2]), sum(xs[:-4])),
        *(xs[-5:-3] == [1, 2], xs[-1:] == []),
    )
