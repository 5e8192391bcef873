"""Processes that are forked while other threads are at work: no child hangs."""

import pytest

from processes import forking, run

WORK = """
import random, signal, threading, time, warnings
warnings.simplefilter("ignore")  # of threads and forks
stop = False

def work(seed):
    count = 0
    while not stop:
        count += 1
        BUSY

def child():
    constant = random.random()
    f = pygpu.compile(lambda im=Image, p=Position: 3 * im(p) + constant, target="cpu")
    return np.allclose(f(PHOTO), 3 * PHOTO + constant)

def forked():
    pid = os.fork()
    if not pid:
        signal.alarm(20)  # ends a child that hangs, which is seen
        os._exit(not child())
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, "a child hangs, or fails"

threads = [threading.Thread(target=work, args=(seed,)) for seed in range(2)]
chance = random.Random(1)
for thread in threads:
    thread.start()
try:
    for _ in range(FORKS):
        time.sleep(chance.uniform(0, 0.02))
        forked()
finally:
    stop = True
    for thread in threads:
        thread.join()
"""

BUSY = {
    "compile": """f = pygpu.compile(lambda im=Image, p=Position: im(p) * seed + count, target="cpu")
        assert np.array_equal(f(PHOTO), PHOTO * seed + count)""",
    "free": """f = pygpu.compile(lambda im=Image, p=Position: im(p) + seed, target="cpu")
        f(PHOTO)
        del f""",
}


@forking
@pytest.mark.parametrize("busy", BUSY)
def test_children_forked_while_other_threads_compile_do_not_hang(busy):
    # For the first fork, the modules of the target may be under way.
    text = WORK.replace("BUSY", BUSY[busy])
    run(text.replace("FORKS", "30"), PYGPU_CACHE="0" if busy == "compile" else "1")
    for _ in range(2):
        run(text.replace("FORKS", "1"))


@forking
def test_a_handler_of_a_signal_may_call_while_the_modules_of_a_call_are_run():
    run(
        """
    import signal
    calls = []
    def handler(*_):
        calls.append(pygpu.compile(double, target="cpu")(PHOTO))
        signal.setitimer(signal.ITIMER_REAL, 0.003)
    signal.signal(signal.SIGALRM, handler)
    def three(im: Image, p: Position):
        return pygpu.Vec3(im(p), np.sin(im(p)), np.hypot(im(p), 2.0)).yzx
    three = pygpu.compile(three, target="cpu")
    signal.setitimer(signal.ITIMER_REAL, 0.003)
    made = three(PHOTO)
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert np.allclose(made[..., 2], PHOTO)
    assert calls and all(np.array_equal(call, 2 * PHOTO) for call in calls)
    """,
        PYGPU_CACHE="0",
    )


def test_a_handler_of_a_signal_may_fork_while_the_cpu_target_compiles():
    run(
        """
    import signal, warnings
    warnings.simplefilter("ignore")
    children = []
    def handler(*_):
        pid = os.fork()
        if not pid:
            signal.alarm(20)
            f = pygpu.compile(double, target="cpu")
            os._exit(not np.array_equal(f(PHOTO), 2 * PHOTO))
        children.append(pid)
    signal.signal(signal.SIGALRM, handler)
    for count in range(25):
        f = pygpu.compile(lambda im=Image, p=Position: im(p) + count, target="cpu")
        signal.setitimer(signal.ITIMER_REAL, 0.001 * (count + 1))
        assert np.array_equal(f(PHOTO), PHOTO + count)
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert children
    for pid in children:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    """,
        PYGPU_CACHE="0",
    )


@forking
def test_children_forked_while_other_threads_run_pipelines_or_read_functions_do_not_hang():
    run(
        """
    import pickle, signal, threading, warnings
    from pygpu.execution import travel
    from pygpu.execution.pipelines import stages, takes
    warnings.simplefilter("ignore")
    f = pygpu.compile(double, target="cpu")
    pipeline = pygpu.pipeline(lambda im: f(f(im)), target="cpu")
    assert np.array_equal(pipeline(PHOTO), 4 * PHOTO)
    sent = pickle.dumps(f)
    held, done = threading.Event(), threading.Event()
    def hold():
        with takes._LOCK.lock, stages._LOCK.lock, travel._LOCK.lock:
            held.set()
            done.wait()
    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    pid = os.fork()
    if not pid:
        signal.alarm(20)
        again = [pipeline(PHOTO) for _ in range(3)] + [2 * pickle.loads(sent)(PHOTO)]
        os._exit(not all(np.array_equal(each, 4 * PHOTO) for each in again))
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, "a child hangs, or fails"
    """
    )
