"""How threads come to a job and leave it, as LLVM IR.

A job has a gate: the number of helpers inside, and whether it is shut. Who finds it shut turns
away, so the caller waits for those inside only. A helper that has just finished lingers: it looks
at its mailbox for a while, where it is handed the next job without the delay of being woken. A
job that is posted counts its helper as inside, until the helper leaves or the caller takes the
job back from the mailbox: so a helper never looks at a job that is over.
A mailbox is two numbers: 0 (asleep), 1 (lingering), 2 (working) or a job; and how much scratch
there is.

`share` is all of that at once for helpers that linger: it posts a job to some mailboxes, runs it,
takes it back from those that have not looked, and waits for the others.
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.jobs.slots import GATE, NEXT, SCRATCH, SHUT, TILES
from pygpu.codegen.llvm.text import Machine

# What a caller waits for: nobody inside; all tiles taken; both.
LEFT_ALL, TAKEN, DONE = range(3)
LINGERING: Final = 1  # what a mailbox says
_TEXT: Final = """
declare void @{pause}()

define void @run(ptr %job, ptr %scratch) #0 {{
  call void @take(ptr %job, ptr %scratch, i64 1)
  ret void
}}

define void @open(ptr %job) #0 {{
  %gate = getelementptr i8, ptr %job, i64 {gate}
  %old = atomicrmw and ptr %gate, i64 {opened} seq_cst
  ret void
}}

define void @shut(ptr %job) #0 {{
  %gate = getelementptr i8, ptr %job, i64 {gate}
  %old = atomicrmw or ptr %gate, i64 {shut} seq_cst
  ret void
}}

define void @serve(ptr %job, ptr %scratch) #0 {{
entry:
  %gate = getelementptr i8, ptr %job, i64 {gate}
  %old = atomicrmw add ptr %gate, i64 1 seq_cst
  %free = icmp ult i64 %old, {shut}
  br i1 %free, label %work, label %leave
work:
  call void @take(ptr %job, ptr %scratch, i64 {back})
  br label %leave
leave:
  %before = atomicrmw sub ptr %gate, i64 1 seq_cst
  ret void
}}

define i32 @wait(ptr %job, i64 %rounds, i32 %what) #0 {{
entry:
  %gate = getelementptr i8, ptr %job, i64 {gate}
  %next = getelementptr i8, ptr %job, i64 {next}
  %tiles = getelementptr i8, ptr %job, i64 {tiles}
  %count = load i64, ptr %tiles, align 8
  %any = icmp eq i32 %what, {left}
  %busy = icmp eq i32 %what, {taken}
  br label %look
look:
  %round = phi i64 [ 0, %entry ], [ %following, %again ]
  %tile = load atomic i64, ptr %next seq_cst, align 8
  %inside = load atomic i64, ptr %gate seq_cst, align 8
  %bits = and i64 %inside, 65535
  %nobody = icmp eq i64 %bits, 0
  %alone = or i1 %busy, %nobody
  %front = and i64 %tile, 4294967295
  %back = lshr i64 %tile, 32
  %both = add i64 %front, %back
  %finished = icmp sge i64 %both, %count
  %enough = or i1 %any, %finished
  %done = and i1 %alone, %enough
  br i1 %done, label %over, label %again
again:
  call void @{pause}()
  %following = add i64 %round, 1
  %more = icmp slt i64 %following, %rounds
  br i1 %more, label %look, label %over
over:
  %result = phi i32 [ 1, %look ], [ 0, %again ]
  ret i32 %result
}}

define i32 @post(ptr %mailbox, ptr %job) #0 {{
entry:
  %need_at = getelementptr i8, ptr %job, i64 {scratch}
  %need = load i64, ptr %need_at, align 8
  %have_at = getelementptr i8, ptr %mailbox, i64 8
  %have = load i64, ptr %have_at, align 8
  %room = icmp sle i64 %need, %have
  br i1 %room, label %try, label %no
try:
  %gate = getelementptr i8, ptr %job, i64 {gate}
  %old = atomicrmw add ptr %gate, i64 1 seq_cst
  %number = ptrtoint ptr %job to i64
  %pair = cmpxchg ptr %mailbox, i64 1, i64 %number seq_cst seq_cst
  %posted = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %posted, label %yes, label %undo
undo:
  %before = atomicrmw sub ptr %gate, i64 1 seq_cst
  br label %no
yes:
  ret i32 1
no:
  ret i32 0
}}

define void @retract(ptr %mailbox, ptr %job) #0 {{
entry:
  %number = ptrtoint ptr %job to i64
  %pair = cmpxchg ptr %mailbox, i64 %number, i64 1 seq_cst seq_cst
  %back = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %back, label %undo, label %leave
undo:
  %gate = getelementptr i8, ptr %job, i64 {gate}
  %before = atomicrmw sub ptr %gate, i64 1 seq_cst
  br label %leave
leave:
  ret void
}}

define i32 @share(ptr %job, ptr %scratch, ptr %boxes, i64 %count, i64 %rounds) #0 {{
entry:
  br label %give
give:
  %given = phi i64 [ 0, %entry ], [ %given_next, %give ]
  %reached = phi i32 [ 0, %entry ], [ %reached_next, %give ]
  %given_at = getelementptr ptr, ptr %boxes, i64 %given
  %given_box = load ptr, ptr %given_at, align 8
  %one = call i32 @post(ptr %given_box, ptr %job)
  %reached_next = add i32 %reached, %one
  %given_next = add i64 %given, 1
  %to_give = icmp slt i64 %given_next, %count
  br i1 %to_give, label %give, label %work
work:
  call void @take(ptr %job, ptr %scratch, i64 1)
  br label %back
back:
  %taken = phi i64 [ 0, %work ], [ %taken_next, %back ]
  %taken_at = getelementptr ptr, ptr %boxes, i64 %taken
  %taken_box = load ptr, ptr %taken_at, align 8
  call void @retract(ptr %taken_box, ptr %job)
  %taken_next = add i64 %taken, 1
  %to_take = icmp slt i64 %taken_next, %count
  br i1 %to_take, label %back, label %last
last:
  %over = call i32 @wait(ptr %job, i64 %rounds, i32 {done})
  %is_over = icmp ne i32 %over, 0
  %all = trunc i64 %count to i32
  %missed = sub i32 %all, %reached_next
  %result = select i1 %is_over, i32 %missed, i32 -1
  ret i32 %result
}}

define void @linger(ptr %mailbox, ptr %scratch, i64 %rounds) #0 {{
entry:
  br label %ready
ready:
  store atomic i64 1, ptr %mailbox seq_cst, align 8
  br label %look
look:
  %round = phi i64 [ 0, %ready ], [ %following, %idle ], [ %following, %sleep ], [ %round, %take ]
  %seen = load atomic i64, ptr %mailbox seq_cst, align 8
  %empty = icmp eq i64 %seen, 1
  br i1 %empty, label %idle, label %take
idle:
  call void @{pause}()
  %following = add i64 %round, 1
  %more = icmp slt i64 %following, %rounds
  br i1 %more, label %look, label %sleep
sleep:
  %pair = cmpxchg ptr %mailbox, i64 1, i64 0 seq_cst seq_cst
  %asleep = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %asleep, label %leave, label %look
take:
  %taking = cmpxchg ptr %mailbox, i64 %seen, i64 2 seq_cst seq_cst
  %taken = extractvalue {{ i64, i1 }} %taking, 1
  br i1 %taken, label %work, label %look
work:
  %job = inttoptr i64 %seen to ptr
  call void @take(ptr %job, ptr %scratch, i64 {back})
  %gate = getelementptr i8, ptr %job, i64 {gate}
  %before = atomicrmw sub ptr %gate, i64 1 seq_cst
  br label %ready
leave:
  ret void
}}
"""


def hand_over(machine: Machine) -> str:
    """The functions that call `run`, and those that wait for it."""
    return _TEXT.format(
        next=8 * NEXT,
        back=1 << 32,
        tiles=8 * TILES,
        gate=8 * GATE,
        scratch=8 * SCRATCH,
        shut=SHUT,
        opened=~SHUT,
        left=LEFT_ALL,
        taken=TAKEN,
        done=DONE,
        pause=machine.pause,
    )
