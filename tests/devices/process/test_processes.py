"""PyGPU in processes: forked and spawned ones, beside another library's OpenGL, without any OpenGL,
interrupted, and at their end."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import pygpu
from conftest import require
from processes import HEAD, forking, run, start
from pygpu import Image, Position

# ---------------------------------------------------------------- fork and spawn


@forking
@pytest.mark.parametrize("name", ["fragment", "compute"])
def test_a_forked_child_of_a_process_that_used_opengl_goes_to_the_cpu(name):
    require(name)
    code = f"""
    import warnings
    warnings.simplefilter("ignore")  # of threads and forks
    os.environ["PYGPU_TARGET"] = ""
    demanded = pygpu.compile(double, target={name!r})
    free = pygpu.compile(double)
    kept = demanded(Image(PHOTO))
    child = os.fork()
    if not child:
        code = 1
        try:
            assert free.target == "cpu"
            assert np.array_equal(free(PHOTO), 2 * PHOTO)
            for use in (lambda: demanded(PHOTO), lambda: np.asarray(kept),
                        lambda: pygpu.compile(double, target="fragment")(PHOTO)):
                try:
                    use()
                except pygpu.DeviceError as error:
                    assert "fork" in str(error) and "cpu" in str(error), error
                else:
                    raise AssertionError("no error")
            assert pygpu.info().default == "cpu"
            assert "forked" in repr(pygpu.info())
            code = 0
        finally:
            sys.stdout.flush()
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert np.array_equal(np.asarray(kept), 2 * PHOTO)
    assert np.array_equal(demanded(PHOTO), 2 * PHOTO)
    """
    run(code)


@pygpu.compile(target="cpu")
def triple(im: Image, p: Position):
    return 3 * im(p)


def tripled(seed):
    array = np.random.default_rng(seed).random((300, 400), dtype=np.float32)
    return np.array_equal(triple(array), 3 * array)


@forking
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_pool_of_forked_processes_computes_on_its_own_threads():
    assert tripled(0)  # threads of this process are none of the children's
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert all(pool.map(tripled, range(6), timeout=120))


@pytest.mark.parametrize("name", ["cpu", "fragment"])
def test_a_spawned_child_begins_anew(name, tmp_path):
    require(name)
    script = tmp_path / "program.py"
    script.write_text(
        HEAD
        + textwrap.dedent(f"""
        import multiprocessing
        f = pygpu.compile(double, target={name!r})
        def work(k):
            return np.array_equal(f(PHOTO + k), 2 * (PHOTO + k))
        if __name__ == "__main__":
            assert work(0)
            with multiprocessing.get_context("spawn").Pool(2) as pool:
                assert all(pool.map(work, range(4)))
            print("done")
        """)
    )
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True, text=True, timeout=200, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_functions_and_images_are_sent_to_other_processes():
    code = """
    import pickle
    f = pygpu.compile(double, target="cpu")
    image = f(Image(PHOTO, boundary="wrap"))
    again = pickle.loads(pickle.dumps(image))
    assert np.array_equal(np.asarray(again), 2 * PHOTO) and again.boundary == "wrap"
    """
    run(code)


# ---------------------------------------------------------------- beside other libraries


@pytest.mark.parametrize("name", ["fragment", "compute"])
def test_another_librarys_context_stays_current(name):
    require(name)
    code = f"""
    import moderngl
    theirs = moderngl.create_context(standalone=True, backend="egl")
    texture = theirs.texture((4, 3), 1, PHOTO.tobytes(), dtype="f4")
    target = theirs.framebuffer([theirs.texture((2, 2), 4)])
    target.use()
    program = theirs.program(
        vertex_shader="#version 330\\nin vec2 at; void main() {{ gl_Position = vec4(at, 0, 1); }}",
        fragment_shader="#version 330\\nout vec4 c; void main() {{ c = vec4(1, 0.5, 0, 1); }}",
    )
    corners = np.array([-1, -1, 3, -1, -1, 3], "f4")
    vertices = theirs.vertex_array(program, [(theirs.buffer(corners.tobytes()), "2f", "at")])
    f = pygpu.compile(double, target={name!r})
    for k in range(3):
        result = f(Image(PHOTO + k))
        assert np.array_equal(f(PHOTO), 2 * PHOTO)
        target.clear()
        vertices.render()  # into what they had bound, with what they had made
        assert target.read(components=4) == bytes([255, 128, 0, 255]) * 4 or \\
            target.read(components=4) == bytes([255, 127, 0, 255]) * 4
        assert texture.read() == PHOTO.tobytes()
        assert np.array_equal(np.asarray(result), 2 * (PHOTO + k))
        assert theirs.error == "GL_NO_ERROR"
        assert moderngl.get_context() is theirs
    theirs.release()
    assert np.array_equal(f(PHOTO), 2 * PHOTO)
    """
    run(code)


HIDE = """
import ctypes
real = ctypes.CDLL.__init__
def init(self, name, *args, **kwargs):
    if name and any(part in str(name) for part in ("EGL", "libGL", "libX11")):
        raise OSError(f"{name}: cannot open shared object file")
    real(self, name, *args, **kwargs)
ctypes.CDLL.__init__ = init
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="libraries have other names")
def test_without_opengl_libraries_every_attempt_is_told(tmp_path):
    pytest.importorskip("moderngl")
    (tmp_path / "sitecustomize.py").write_text(HIDE)
    code = """
    f = pygpu.compile(double)
    assert np.array_equal(f(PHOTO), 2 * PHOTO) and f.target == "cpu"
    for name in ("fragment", "compute"):
        for _ in range(2):
            try:
                pygpu.compile(double, target=name)(PHOTO)
            except pygpu.DeviceError as error:
                message = str(error)
                assert "EGL: libEGL" in message and "cannot open" in message, message
                assert "apt install libegl1" in message, message
            else:
                raise AssertionError("no error")
    info = pygpu.info()
    assert info.default == "cpu" and not info.targets["fragment"]["available"]
    assert "there is no OpenGL here" in repr(info)
    """
    path = os.pathsep.join([str(tmp_path), *sys.path])
    run(code, PYTHONPATH=path, DISPLAY="")


@pytest.mark.parametrize("library", ["llvmlite", "moderngl"])
def test_a_library_that_is_missing_is_named(library):
    target = {"llvmlite": "cpu", "moderngl": "fragment"}[library]
    code = f"""
    sys.modules[{library!r}] = None
    try:
        pygpu.compile(double, target={target!r})(PHOTO)
    except pygpu.DeviceError as error:
        assert "pip install {library}" in str(error), error
    else:
        raise AssertionError("no error")
    """
    run(code)


# ---------------------------------------------------------------- the end


@pytest.mark.parametrize("name", ["cpu", "fragment", "compute"])
@pytest.mark.parametrize(
    "end",
    [
        "",
        "sys.exit()",
        "import threading; threading.Thread(target=lambda: [f(PHOTO) for _ in range(9999)],"
        " daemon=True).start()",
        "sys.stdout.write('x')",
        "loop = [f, image]; loop.append(loop)",
        "import atexit; atexit.register(lambda: f(PHOTO))",
        "import atexit; atexit.register(lambda: np.asarray(image))",
    ],
)
def test_a_process_ends_silently(name, end):
    require(name)
    run(
        f"""
    f = pygpu.compile(double, target={name!r})
    image = f(Image(PHOTO))
    f(np.zeros((600, 600), np.float32))
    exec({end!r})
    """
    )


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise")
def test_a_loop_without_end_is_interrupted_on_the_cpu():
    require("cpu")
    child = start(
        """
    import signal
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run unattended
    def endless(im: Image, p: Position):
        v = im(p)
        while v < 1e9:
            v = abs(v - 1.0)
        return v
    f = pygpu.compile(endless, target="cpu")
    f(PHOTO + 1e10)
    for array in (PHOTO, np.zeros((500, 500), np.float32)):
        print("running", flush=True)
        try:
            f(array)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    assert np.array_equal(pygpu.compile(double, target="cpu")(PHOTO), 2 * PHOTO)
    """
    )
    for _ in range(2):
        assert child.stdout.readline() == "running\n"
        time.sleep(0.3)
        asked = time.perf_counter()
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert time.perf_counter() - asked < 10
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (0, "", "")
