"""Graphs of blocks: dominators, merges, loops."""

from pygpu.frontend.decode.flow import Graph


def test_straight_code_is_one_block() -> None:
    graph = Graph(3, {2: ()})
    assert graph.blocks == {0: 3}
    assert graph.successors == {0: ()}
    assert graph.idom == {0: 0}


def test_branches_meet_below_where_they_parted() -> None:
    # 0 branches to 1 or 2, both go on at 3.
    graph = Graph(4, {0: (1, 2), 1: (3,), 3: ()})
    assert graph.order == (0, 1, 2, 3)
    assert graph.merges(0) == (3,)
    assert graph.merges(1) == ()
    assert graph.idom[3] == 0
    assert graph.forward_predecessors(3) == (1, 2)
    assert graph.dominates(0, 3)
    assert not graph.dominates(1, 3)


def test_fall_through_comes_right_after_its_branch() -> None:
    graph = Graph(5, {0: (1, 3), 2: (4,), 4: ()})
    assert graph.order == (0, 1, 3, 4)


def test_nested_loops_share_their_blocks() -> None:
    # for 0: for 1: if 2: break else 3; exits of the outer at 5.
    graph = Graph(6, {0: (1, 5), 1: (2, 0), 2: (3, 4), 3: (1,), 4: (0,), 5: ()})
    assert graph.loops == {0: frozenset({0, 1, 2, 3, 4}), 1: frozenset({1, 2, 3})}
    assert graph.back_edges == {(1, 0), (4, 0), (3, 1)}
    assert graph.forward_predecessors(0) == ()
    assert graph.forward_predecessors(1) == (0,)
    assert graph.exits(0) == (5,)
    assert graph.exits(1) == (4,) or graph.exits(1) == (0, 4)


def test_several_merges_come_in_order() -> None:
    # a and b or c: both arms are reached in two ways.
    graph = Graph(6, {0: (1, 2), 1: (3, 2), 2: (3, 4), 3: (5,), 4: (5,), 5: ()})
    assert graph.merges(0) == tuple(sorted((2, 3, 5), key=graph.number.__getitem__))


def test_loop_with_two_entrances_is_not_reducible() -> None:
    graph = Graph(4, {0: (1, 2), 1: (2,), 2: (1, 3), 3: ()})
    assert not graph.reducible


def test_unreachable_code_is_left_out() -> None:
    graph = Graph(4, {0: (3,), 2: (0,), 3: ()})
    assert graph.order == (0, 3)
    assert set(graph.blocks) == {0, 3}


def test_a_block_may_loop_to_itself() -> None:
    graph = Graph(2, {0: (1, 0), 1: ()})
    assert graph.loops == {0: frozenset({0})}
    assert graph.exits(0) == (1,)
