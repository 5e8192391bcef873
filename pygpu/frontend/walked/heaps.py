"""Python's module `heapq`, as functions that are walked: items move as in CPython's own, so a heap
has its items in the same places.

    heapq.heappush(queue, (cost, node))
    cost, node = heapq.heappop(queue)
"""

from typing import Any

from pygpu.frontend.walked.containers import plain


def sift_down(heap: Any, start: Any, pos: Any) -> None:
    """Move the item at `pos` towards the root while it is less than its parent."""
    item = heap[pos]
    while pos > start:
        parent = (pos - 1) >> 1
        if not item < heap[parent]:
            break
        heap[pos] = heap[parent]
        pos = parent
    heap[pos] = item


def sift_up(heap: Any, pos: Any) -> None:
    """Move the smaller child up until a leaf is free, then the item down from there."""
    end, start, item = len(heap), pos, heap[pos]
    child = 2 * pos + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[pos] = heap[child]
        pos = child
        child = 2 * pos + 1
    heap[pos] = item
    sift_down(heap, start, pos)


def heappush(heap: Any, item: Any) -> None:
    heap = plain(heap)
    heap.append(item)
    sift_down(heap, 0, len(heap) - 1)


def heappop(heap: Any) -> Any:
    heap = plain(heap)
    last = heap.pop()
    if len(heap) == 0:
        return last
    least = heap[0]
    heap[0] = last
    sift_up(heap, 0)
    return least


def heapreplace(heap: Any, item: Any) -> Any:
    heap = plain(heap)
    least = heap[0]
    heap[0] = item
    sift_up(heap, 0)
    return least


def heappushpop(heap: Any, item: Any) -> Any:
    heap = plain(heap)
    if len(heap) > 0 and heap[0] < item:
        return heapreplace(heap, item)
    return item


def heapify(heap: Any) -> None:
    heap = plain(heap)
    for pos in reversed(range(len(heap) // 2)):
        sift_up(heap, pos)


def nsmallest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted(iterable, key=key)[:n]


def nlargest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted(iterable, key=key, reverse=True)[:n]


def merge(*iterables: Any, key: Any = None, reverse: Any = False) -> Any:
    merged: Any = []
    for xs in iterables:
        merged = _merged(merged, [(x if key is None else key(x), x) for x in xs], reverse)
    return [x for _, x in merged]


def _merged(left: Any, right: Any, reverse: Any) -> Any:
    """Of two lists of keys and items, which need not be in order, always the lesser first item."""
    merged, i, j = [], 0, 0
    for _ in range(len(left) + len(right)):
        if j == len(right) or (i < len(left) and not _goes_first(right[j], left[i], reverse)):
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged


def _goes_first(a: Any, b: Any, reverse: Any) -> Any:
    return b[0] < a[0] if reverse else a[0] < b[0]
