"""The native loop over rounds, each of which reads what the one before has made, as LLVM IR:
`rounds(job, scratch)`, which every thread calls.

A job of rounds is as many jobs of an image (tiles.py), which write to two buffers by turns. Nobody
waits for a whole round: a tile of a round may be made as soon as the round before has made it and
its two neighbours. (Then nobody reads any more what it overwrites, which those have read.) So a
thread makes several rounds, a band, in one sweep over the tiles, two tiles further down in each
round than in the next, and what it reads is in its cache. Each thread has a part of the tiles, a
quarter of them, say, and sweeps it in the other direction than its neighbours do: then both come to
their border at the same time.

    round 0   . . . . . X            tiles go to the right, X are made one after the other;
    round 1   . . . X                each needs three dots above it
    round 2   . X

Tiles of a part are numbered in the order of these columns (waves). A thread takes the next of its
own part; where that is not ready, after a while, or taken to the last, the next of another part. Of
all tiles that are not taken, those of the least wave are ready as soon as what is being made is
there: so somebody always goes on, be it a single thread. Who waits lets others have the processor,
which may be whom it waits for.
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.jobs import slots
from pygpu.codegen.llvm.text import Machine

PATIENCE: Final = 500  # looks at a tile that is not ready, before another part is helped
SOON: Final = 64  # looks after which the processor goes to who else waits for it, a power of two
_TEXT: Final = """
define internal void @rounds(ptr %master, ptr %scratch) #1 {{
entry:
  %tiles_at = getelementptr i8, ptr %master, i64 {tiles}
  %tiles = load i64, ptr %tiles_at, align 8
  %stop_at = getelementptr i8, ptr %master, i64 {stop}
  %stop = load ptr, ptr %stop_at, align 8
  %record_at = getelementptr i8, ptr %master, i64 {rounds}
  %record = load ptr, ptr %record_at, align 8
{loads}
  %skew = add i64 %reach, 1
  %home = atomicrmw add ptr %arrived_at, i64 1 monotonic
  %later = sub i64 %band, 1
  %lead = mul i64 %skew, %later
  %up_to = add i64 %count, %later
  %bands = sdiv i64 %up_to, %band
  %whole = sub i64 %tiles, 1
  br label %own
own:
  %tries = phi i64 [ 0, %entry ], [ 0, %made ], [ %tried, %still ], [ %tried, %pass ]
  br label %scan
scan:
  %j = phi i64 [ 0, %own ], [ %following, %other ]
  %over = phi i64 [ 0, %own ], [ %over_now, %other ]
  %sum = add i64 %home, %j
  %p = urem i64 %sum, %parts
  %line = mul i64 %p, {line}
  %next = getelementptr i8, ptr %part_next, i64 %line
  %p1 = add i64 %p, 1
  %before = mul i64 %p, %tiles
  %first = sdiv i64 %before, %parts
  %behind = mul i64 %p1, %tiles
  %end = sdiv i64 %behind, %parts
  %length = sub i64 %end, %first
  %waves = add i64 %length, %lead
  %per_band = mul i64 %waves, %band
  %total = mul i64 %per_band, %bands
  br label %look
look:
  %i = load atomic i64, ptr %next monotonic, align 8
  %any = icmp slt i64 %i, %total
  br i1 %any, label %decode, label %part_over
decode:
  %b = sdiv i64 %i, %per_band
  %in_band = srem i64 %i, %per_band
  %wave = sdiv i64 %in_band, %band
  %step = srem i64 %in_band, %band
  %delay = mul i64 %skew, %step
  %d = sub i64 %wave, %delay
  %b_first = mul i64 %b, %band
  %r = add i64 %b_first, %step
  %d_in = icmp ult i64 %d, %length
  %r_in = icmp slt i64 %r, %count
  %valid = and i1 %d_in, %r_in
  %i1 = add i64 %i, 1
  br i1 %valid, label %place, label %skip
skip:
  %skipping = cmpxchg ptr %next, i64 %i, i64 %i1 monotonic monotonic
  br label %look
place:
  %turn = add i64 %p, %b
  %odd = and i64 %turn, 1
  %is_odd = icmp ne i64 %odd, 0
  %down = add i64 %first, %d
  %end1 = sub i64 %end, 1
  %up = sub i64 %end1, %d
  %k = select i1 %is_odd, i64 %up, i64 %down
  %far = icmp slt i64 %reach, 0
  br i1 %far, label %all, label %near
all:
  %finished = load atomic i64, ptr %finished_at acquire, align 8
  %due = mul i64 %r, %tiles
  %all_there = icmp sge i64 %finished, %due
  br label %decide
near:
  %kl = sub i64 %k, %reach
  %kl_low = icmp slt i64 %kl, 0
  %left = select i1 %kl_low, i64 0, i64 %kl
  %kr = add i64 %k, %reach
  %kr_high = icmp sgt i64 %kr, %whole
  %right = select i1 %kr_high, i64 %whole, i64 %kr
  %left_at = getelementptr i64, ptr %done, i64 %left
  %here_at = getelementptr i64, ptr %done, i64 %k
  %right_at = getelementptr i64, ptr %done, i64 %right
  %left_done = load atomic i64, ptr %left_at acquire, align 8
  %here_done = load atomic i64, ptr %here_at acquire, align 8
  %right_done = load atomic i64, ptr %right_at acquire, align 8
  %left_there = icmp sge i64 %left_done, %r
  %here_there = icmp sge i64 %here_done, %r
  %right_there = icmp sge i64 %right_done, %r
  %two_there = and i1 %left_there, %here_there
  %near_there = and i1 %two_there, %right_there
  br label %decide
decide:
  %ready = phi i1 [ %all_there, %all ], [ %near_there, %near ]
  br i1 %ready, label %claim, label %not_ready
claim:
  %claiming = cmpxchg ptr %next, i64 %i, i64 %i1 acq_rel monotonic
  %claimed = extractvalue {{ i64, i1 }} %claiming, 1
  br i1 %claimed, label %make, label %look
make:
  %job_at = getelementptr ptr, ptr %jobs, i64 %r
  %job = load ptr, ptr %job_at, align 8
  call void @tile(ptr %job, ptr %scratch, i64 %k)
  %made_at = getelementptr i64, ptr %done, i64 %k
  %r1 = add i64 %r, 1
  store atomic i64 %r1, ptr %made_at release, align 8
  %counted = atomicrmw add ptr %finished_at, i64 1 release
  %flag = load atomic i32, ptr %stop monotonic, align 4
  %stopped = icmp ne i32 %flag, 0
  br i1 %stopped, label %leave, label %made
made:
  br label %own
not_ready:
  %others = load atomic i64, ptr %arrived_at monotonic, align 8
  %accompanied = icmp sgt i64 %others, 1
  %own_part = icmp eq i64 %j, 0
  %patient = icmp slt i64 %tries, {patience}
  %may_wait = and i1 %accompanied, %own_part
  %waits = and i1 %may_wait, %patient
  br i1 %waits, label %wait, label %other
part_over:
  br label %other
other:
  %one_over = phi i64 [ 1, %part_over ], [ 0, %not_ready ]
  %over_now = add i64 %over, %one_over
  %following = add i64 %j, 1
  %all_parts = icmp sge i64 %following, %parts
  br i1 %all_parts, label %scanned, label %scan
scanned:
  %nothing = icmp sge i64 %over_now, %parts
  br i1 %nothing, label %leave, label %wait
wait:
  %tried = add i64 %tries, 1
  call void @{pause}()
  %halt = load atomic i32, ptr %stop monotonic, align 4
  %halted = icmp ne i32 %halt, 0
  br i1 %halted, label %leave, label %still
still:
  %often = and i64 %tried, {soon}
  %now = icmp eq i64 %often, 0
  %can = icmp ne ptr %pass_on, null
  %passes = and i1 %now, %can
  br i1 %passes, label %pass, label %own
pass:
  %passed = call i32 %pass_on()
  br label %own
leave:
  %taken_at = getelementptr i8, ptr %master, i64 {next}
  store atomic i64 %tiles, ptr %taken_at seq_cst, align 8
  ret void
}}
"""
_NUMBERS: Final = {
    "count": slots.ROUND_COUNT,
    "parts": slots.PARTS,
    "band": slots.BAND,
    "reach": slots.REACH,
    "jobs": slots.ROUND_JOBS,
    "part_next": slots.PART_NEXT,
    "done": slots.DONE,
    "pass_on": slots.PASS_ON,
}
_PLACES: Final = {"arrived": slots.ARRIVED, "finished": slots.FINISHED}


def rounds(machine: Machine) -> str:
    """The IR of the loop."""
    lines = [
        f"  %{name}_at = getelementptr i8, ptr %record, i64 {8 * slot}"
        for name, slot in (_NUMBERS | _PLACES).items()
    ]
    for name in _NUMBERS:
        kind = "ptr" if name in ("jobs", "part_next", "done", "pass_on") else "i64"
        lines.append(f"  %{name} = load {kind}, ptr %{name}_at, align 8")
    return _TEXT.format(
        next=8 * slots.NEXT,
        tiles=8 * slots.TILES,
        stop=8 * slots.STOP,
        rounds=8 * slots.ROUNDS,
        loads="\n".join(lines),
        line=slots.LINE,
        patience=PATIENCE,
        soon=SOON - 1,
        pause=machine.pause,
    )
