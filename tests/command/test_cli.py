"""The command line: what it writes, and how it says what is wrong."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PILImage

import pygpu
from pygpu.__main__ import _pictures
from pygpu.command.cli import main

SOURCE = """
from dataclasses import dataclass
from pygpu import Image, Position, compile, vectorize

@dataclass
class Gain:
    by: float

def scaled(im: Image, p: Position, gain: float = 1.0):
    return gain * im(p)

def shifted(im: Image, p: Position, by):
    return im(p + by)

def faded(im: Image, p: Position, by: float):
    return by * im(p)

@compile
def compiled(im: Image, p: Position):
    return Gain(0.5).by * im(p)

@compile(by=(1, 0))
def told(by, im: Image, p: Position, gain: float = 1.0):
    return gain * im(p + by)

doubled = vectorize(lambda v: 2 * v)

class Lens:
    @compile
    def look(self, im: Image, p: Position):
        return im(p)

look = Lens().look

def two(im: Image, p: Position):
    return im(p), 1 - im(p)

def parted(p: Position, time: float = 0.0):
    return time, 0.5, p.x / 4

def ramp(p: Position):
    return p.x / 4

def refused(im: Image, p: Position):
    return chr(im(p))

def fails(im: Image, p: Position):
    return im(p) * {}["missing"]
"""

FILMS = """
from pygpu import Image, Position, Vec3

def waves(p: Position, time: float = 0.0):
    return Vec3(time * 5)

def blinks(im: Image, p: Position, time: float = 0.0):
    return 0 * im(p) + time * 5
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with filters.py and a picture, which is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYGPU_TARGET", "interpreter")
    (tmp_path / "filters.py").write_text(SOURCE)
    (tmp_path / "films.py").write_text(FILMS)
    values = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    PILImage.fromarray(values).save(tmp_path / "photo.png")
    PILImage.new("CMYK", (3, 2)).save(tmp_path / "inks.jpg")
    return tmp_path


def pixels(path: str) -> np.ndarray:
    return np.asarray(PILImage.open(path))


def test_run_writes_the_result(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "filters.py:scaled", "photo.png", "-o", "out.png", "--set", "gain=2"]) == 0
    assert np.array_equal(pixels("out.png"), pixels("photo.png") * 2)
    assert capsys.readouterr().out.startswith("out.png: 5 x 4, interpreter, ")


def test_run_gives_untyped_parameters_at_compile_time(place: Path) -> None:
    assert main(["run", "filters.py:shifted", "photo.png", "-o", "o.png", "--set", "by=(1,0)"]) == 0
    assert np.array_equal(pixels("o.png")[:, :-1], pixels("photo.png")[:, 1:])


def test_run_takes_decorated_functions(place: Path) -> None:
    assert main(["run", "filters.py:compiled", "photo.png", "-o", "out.png"]) == 0
    assert np.abs(pixels("out.png") - pixels("photo.png") / 2).max() <= 0.5


def test_run_takes_what_the_file_has_compiled_as_it_is(place: Path) -> None:
    assert main(["run", "filters.py:told", "photo.png", "-o", "o.png", "--set", "gain=2"]) == 0
    assert np.array_equal(pixels("o.png")[:, :-1], pixels("photo.png")[:, 1:] * 2)
    assert main(["run", "filters.py:told", "photo.png", "-o", "o.png", "--set", "by=(0,1)"]) == 0
    assert np.array_equal(pixels("o.png")[:-1], pixels("photo.png")[1:])
    assert main(["run", "filters.py:doubled", "photo.png", "-o", "o.png"]) == 0
    assert np.array_equal(pixels("o.png"), pixels("photo.png") * 2)
    assert main(["run", "filters.py:look", "photo.png", "-o", "o.png"]) == 0
    assert np.array_equal(pixels("o.png"), pixels("photo.png"))


def test_a_target_may_be_asked_for(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("scaled", "told", "doubled", "look"):
        line = f"run filters.py:{name} photo.png -o o.png --target cpu"
        assert main(line.split()) == 0
        assert ", cpu, " in capsys.readouterr().out


def test_functions_of_whole_images_are_taken(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    (place / "whole.py").write_text(
        "import pygpu\n"
        "from pygpu import Image, filters\n"
        "@pygpu.pipeline\n"
        "def soft(im, sigma=1): return filters.gaussian(im, sigma=sigma)\n"
        "def plain(im: Image): return filters.gaussian(im, sigma=2)\n"
        "def counted(im: Image): return 3\n"
        "def unannotated(photo, sigma=2): return filters.gaussian(photo, sigma=sigma)\n"
        "def lighter(photo, level): return photo > level\n"
    )
    ready = "pygpu.filters:gaussian"
    assert main(["run", "whole.py:soft", "photo.png", "-o", "a.png", "--set", "sigma=2"]) == 0
    assert main(["run", "whole.py:plain", "photo.png", "-o", "b.png", "--target", "cpu"]) == 0
    assert main(["run", ready, "photo.png", "-o", "c.png", "--set", "sigma=2"]) == 0
    assert main(["run", "pygpu.filters:median", "photo.png", "-o", "folder"]) == 0
    assert main(["run", "pygpu.filters:opening", "photo.png", "-o", "d.tif"]) == 0
    expected = pygpu.filters.gaussian(pixels("photo.png"), sigma=2, dtype="uint8")
    assert main(["run", "whole.py:unannotated", "photo.png", "-o", "f.png"]) == 0
    for name in "abcf":
        np.testing.assert_array_equal(pixels(f"{name}.png"), expected)
    assert main(["run", "whole.py:lighter", "photo.png", "-o", "g.png", "--set", "level=0.3"]) == 0
    assert main(["run", "whole.py:lighter", "photo.png", "-o", "g.png"]) == 2
    assert pygpu.imread("d.tif").dtype == np.uint8
    capsys.readouterr()
    assert main(["show", "whole.py:soft", "photo.png"]) == 0
    assert "soft" in capsys.readouterr().out
    assert main(["run", "whole.py:counted", "photo.png", "-o", "e.png"]) == 2
    assert "the result is no image but of type int" in capsys.readouterr().err
    assert main(["run", "pygpu.filters:soblel", "photo.png", "-o", "e.png"]) == 2
    assert "pygpu.filters has no function 'soblel'; it has sobel" in capsys.readouterr().err


def test_run_writes_each_of_several_results(place: Path) -> None:
    assert main(["run", "filters.py:two", "photo.png", "-o", "a.png", "-o", "b.png"]) == 0
    assert np.array_equal(pixels("a.png"), 255 - pixels("b.png"))


@pytest.mark.parametrize("dtype", ["uint16", "int32", "float32"])
def test_results_of_one_channel_keep_the_depth_of_the_picture(
    place: Path, dtype: str, capsys: pytest.CaptureFixture[str]
) -> None:
    values = (np.arange(20).reshape(4, 5) * 3000).astype(dtype)
    PILImage.fromarray(values).save("deep.tiff")
    assert main(["run", "filters.py:scaled", "deep.tiff", "-o", "out.tiff"]) == 0
    assert np.array_equal(pixels("out.tiff"), values)
    assert pixels("out.tiff").dtype == dtype
    assert main(["run", "filters.py:scaled", "deep.tiff", "-o", "out.jpg"]) == 2
    assert "--dtype uint8" in capsys.readouterr().err
    run = "run filters.py:scaled deep.tiff -o out.png --dtype uint8"
    assert main(run.split()) == 0
    assert pixels("out.png").dtype == np.uint8


def test_pictures_are_taken_upright(place: Path) -> None:
    picture = PILImage.open("photo.png")
    exif = picture.getexif()
    exif[0x112] = 6  # turned by a quarter
    picture.save("turned.png", exif=exif)
    assert main(["run", "filters.py:scaled", "turned.png", "-o", "out.png"]) == 0
    assert np.array_equal(pixels("out.png"), np.rot90(pixels("photo.png"), -1))


def test_who_reads_only_the_beginning_is_no_error(place: Path) -> None:
    show = [sys.executable, "-m", "pygpu", "show", "filters.py:scaled", "photo.png"]
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        show, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | paths
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait(60) == 1


def test_run_makes_images_from_nothing(place: Path) -> None:
    assert main(["run", "filters.py:ramp", "-o", "out.png", "--shape", "2", "5"]) == 0
    assert pixels("out.png").shape == (2, 5)


def test_show_prints_the_program(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "filters.py:scaled", "photo.png"]) == 0
    assert capsys.readouterr().out.startswith("<scaled lowered for ")
    assert main(["show", "filters.py:scaled", "photo.png", "--ssa"]) == 0
    assert capsys.readouterr().out.startswith("function scaled(")
    assert main(["show", "filters.py:scaled", "photo.png", "--glsl"]) == 0
    assert capsys.readouterr().out.startswith("#version 330 core")


def test_run_of_many_pictures_fills_a_folder(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(3):
        shutil.copy("photo.png", f"picture{number}.png")
    Path("broken.png").write_bytes(b"no picture")
    pictures = "picture0.png picture1.png broken.png picture2.png"
    assert main(f"run filters.py:scaled {pictures} -o out".split()) == 2
    told = capsys.readouterr()
    assert [line.partition(":")[0] for line in told.out.splitlines()] == [
        f"out/picture{number}.png" for number in range(3)
    ]
    assert "broken.png: " in told.err
    assert told.err.splitlines()[-1] == "pygpu: 1 of 4 pictures could not be made"
    np.testing.assert_array_equal(
        np.asarray(PILImage.open("out/picture1.png")), np.asarray(PILImage.open("photo.png"))
    )


def test_pages_of_a_tiff_become_pages(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stack = np.random.default_rng(1).integers(0, 2**16, (5, 12, 17), dtype=np.uint16)
    pygpu.imwrite("stack.tif", stack)
    assert main("run filters.py:scaled stack.tif -o out.tif".split()) == 0
    assert capsys.readouterr().out.startswith("out.tif: 5 of 17 x 12, ")
    np.testing.assert_array_equal(pygpu.imread("out.tif"), stack)
    assert main("run pygpu.filters:gaussian stack.tif -o smooth.tiff --dtype float32".split()) == 0
    expected = pygpu.filters.gaussian(stack[2])
    np.testing.assert_allclose(pygpu.imread("smooth.tiff")[2], expected, atol=1e-6)
    assert main("run filters.py:scaled stack.tif photo.png -o folder".split()) == 0
    np.testing.assert_array_equal(pygpu.imread("folder/stack.tif"), stack)
    capsys.readouterr()
    assert main("run filters.py:scaled stack.tif -o out.gif".split()) == 2
    assert capsys.readouterr().err.strip().endswith("it holds 5 pictures: a stack goes to .tif")


def test_run_of_a_video_writes_one(place: Path) -> None:
    pytest.importorskip("imageio_ffmpeg", reason="no imageio-ffmpeg")
    pygpu.animate(None, np.full((4, 16, 32, 3), 200, np.uint8), "clip.mp4", fps=10)
    assert main("run filters.py:scaled clip.mp4 -o dark.mp4 --set gain=0.5".split()) == 0
    found = np.stack(list(pygpu.frames("dark.mp4")))
    assert found.shape == (4, 16, 32, 3)
    assert np.abs(found.astype(int) - 100).max() < 6


def test_run_of_a_video_keeps_its_sound(place: Path) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="no imageio-ffmpeg").get_ffmpeg_exe()
    tone = ["-f", "lavfi", "-i", "sine=frequency=440:duration=1"]
    subprocess.run([ffmpeg, "-loglevel", "error", *tone, "tone.wav"], check=True)
    frames = np.full((4, 16, 32, 3), 200, np.uint8)
    pygpu.animate(None, frames, "clip.mp4", fps=10, sound="tone.wav")
    for name in ("dark.mp4", "dark.webm"):
        assert main(f"run filters.py:scaled clip.mp4 -o {name} --set gain=0.5".split()) == 0
        assert len(list(pygpu.frames(name))) == 4
        heard = subprocess.run([ffmpeg, "-i", name], capture_output=True, check=False).stderr
        assert b": Audio: " in heard
        assert re.search(rb"Duration: 00:00:0[01]", heard)  # not all of the tone, rounded up
    with pytest.raises(TypeError, match=r"a\.gif: GIF takes no sound; videos do"):
        pygpu.animate(None, frames, "a.gif", sound="clip.mp4")
    with pytest.raises(FileNotFoundError, match="no such file"):
        pygpu.animate(None, frames, "a.mp4", sound="none.mp3")


def test_run_takes_pictures_after_options_and_keeps_them(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main("run filters.py:scaled -o half.png --set gain=0.5 photo.png".split()) == 0
    assert (
        main("run filters.py:scaled --set gain=nan photo.png -o none.tif --dtype float32".split())
        == 0
    )
    assert np.isnan(pygpu.imread("none.tif")).all()
    before = Path("photo.png").read_bytes()
    capsys.readouterr()
    assert main("run filters.py:scaled photo.png -o photo.png --set gain=2".split()) == 2
    assert "photo.png: it would be overwritten; give another -o OUT" in capsys.readouterr().err
    assert Path("photo.png").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "size"),
    [("waves --shape 16 32 -o waves.mp4", (16, 32)), ("blinks photo.png -o out.gif", (4, 5))],
)
def test_run_of_a_function_of_time_writes_so_many_seconds(
    place: Path, arguments: str, size: tuple[int, int]
) -> None:
    if ".mp4" in arguments:
        pytest.importorskip("imageio_ffmpeg", reason="no imageio-ffmpeg")
    assert main(f"run films.py:{arguments} --seconds 0.2".split()) == 0
    found = np.stack(list(pygpu.frames(arguments.split()[-1])))
    assert found.shape == (5, *size, 3)
    expected = 255 * np.arange(5) / 5
    assert np.abs(found.reshape(5, -1).max(axis=1) - expected).max() < 6


def test_run_of_a_camera_writes_a_video(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("imageio_ffmpeg", reason="no imageio-ffmpeg")
    source = "color=c=white:size=32x16:rate=30"  # FFmpeg's, in place of a camera
    monkeypatch.setattr("pygpu.image.camera.DEVICES", {sys.platform: ("lavfi", source)})
    command = "run filters.py:scaled --camera -o me.mp4 --set gain=0.5 --seconds 0.5"
    assert main(command.split()) == 0
    found = np.stack(list(pygpu.frames("me.mp4")))
    assert found.shape[1:] == (16, 32, 3)
    assert np.abs(found.astype(int) - 128).max() < 6


def test_show_needs_no_numbers(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "lit.py").write_text(
        "import pygpu\n"
        "def lit(im: pygpu.Image, p: pygpu.Position, time: float, n: int, on: bool,\n"
        "        sun: pygpu.Vec3, z: complex, m: pygpu.Mat2):\n"
        "    return (im(p) * sun + time * n if on else im(p)) * abs(z) * (m @ pygpu.Vec2(1, 0)).x\n"
    )
    for more in ([], ["--set", "time=1"]):
        assert main(["show", "lit.py:lit", "--ssa", *more]) == 0
        assert "time: float, n: int, on: bool" in capsys.readouterr().out


def test_live_shows_a_function_of_a_file(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(pygpu, "show", lambda *args, **more: asked.append((args, more)))
    assert main("live filters.py:scaled photo.png --set gain=0.5 --control gain=0,3".split()) == 0
    (((function, image), more),) = asked
    assert function.__name__ == "scaled"
    assert image.shape == (4, 5, 3)
    assert more["gain"] == 0.5
    assert more["controls"] == {"gain": (0, 3)}
    assert main("live filters.py:ramp --shape 3 5 --where page".split()) == 0
    assert asked[1][1]["shape"] == (3, 5)
    assert main("live filters.py:compiled".split()) == 0
    assert asked[2][0][1].shape == (512, 512, 3), "a picture where none is given"


def test_watched_files_are_run_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter(range(3))

    def look(seconds: float) -> None:
        if next(looks) == 0:
            text = Path("filters.py").read_text().replace("gain * im(p)", "0 * im(p)")
            Path("filters.py").write_text(text)
        else:
            raise KeyboardInterrupt

    monkeypatch.setattr("pygpu.command.batches.time.sleep", look)
    assert main("run filters.py:scaled photo.png -o out.png --watch".split()) == 130
    assert np.asarray(PILImage.open("out.png")).max() == 0


def test_web_makes_a_page(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main("web filters.py:scaled photo.png --set gain=2.0 --control gain=0,9".split()) == 0
    assert capsys.readouterr().out.startswith("scaled.html: ")
    assert '"name":"gain","kind":"range","value":[2.0],"low":0.0,"high":9.0' in Path(
        "scaled.html"
    ).read_text("utf-8")


def test_truths_are_written_as_people_write_them(place: Path) -> None:
    Path("whole.py").write_text("def negative(im, on=False): return 1 - im if on else im\n")
    for text, same in (("true", False), ("false", True), ("True", False)):
        line = f"run whole.py:negative photo.png -o a.png --target cpu --set on={text}"
        assert main(line.split()) == 0
        assert (pixels("a.png") == pixels("photo.png")).all() == same


def test_web_of_plain_python_over_images_records_it(place: Path) -> None:
    Path("whole.py").write_text(
        "from filters import compiled\n"
        "from pygpu import Image\n"
        "def twice(photo: Image):\n"
        "    return compiled(compiled(photo))\n"
    )
    assert main("web whole.py:twice -o page.html".split()) == 0
    assert Path("page.html").read_text("utf-8").count('"inputs":[') == 2


def test_web_takes_pipelines_and_ready_filters(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("pipes.py").write_text(
        "import pygpu\n"
        "from filters import compiled\n"
        "@pygpu.pipeline\n"
        "def twice(photo, gain=0.5):\n"
        "    return compiled(compiled(photo)) * (1 - gain)\n"
        "ramp = pygpu.compile(lambda p, time: p.x * time, p=pygpu.Position, time=pygpu.Float)\n"
        "@pygpu.pipeline\n"
        "def ramps(time=0.0):\n"
        "    return ramp(time=time, shape=(20, 30)) + 1\n"
    )
    asked = "--control gain=0,9 --iterate 2 -o page.html"
    assert main(f"web pipes.py:twice photo.png {asked}".split()) == 0
    page = Path("page.html").read_text("utf-8")
    assert '"name":"gain","kind":"range","value":[0.5],"low":0.0,"high":9.0' in page
    assert '"rounds":2' in page
    assert main("web pipes.py:ramps".split()) == 0
    assert '"kind":"time"' in Path("ramps.html").read_text("utf-8")
    assert main("web pygpu.filters:gaussian photo.png".split()) == 0
    assert Path("gaussian.html").exists()
    for wrong, words in (
        ("twice photo.png --shape 3 4", "--shape: twice makes images of sizes of its own"),
        ("twice photo.png --control time=0,1", "no number is called 'time'"),
        ("ramps photo.png", "time: takes a float, got an array"),
    ):
        capsys.readouterr()
        assert main(f"web pipes.py:{wrong}".split()) == 2
        assert words in capsys.readouterr().err


def test_info_names_the_targets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    assert "cpu" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("run missing.py:f photo.png -o out.png", "missing.py: no such file"),
        ("run filters.py:nothing photo.png -o out.png", "no function 'nothing'"),
        ("run filters.py:scaled missing.png -o out.png", "missing.png: no such file"),
        ("run filters.py:scaled filters.py -o out.png", "filters.py: "),
        ("run filters.py:scaled photo.png -o out.xyz", "out.xyz: "),
        ("run filters.py:scaled photo.png -o nowhere/out.png", "nowhere/out.png: "),
        ("run filters.py:scaled photo.png -o out.png --set colour=1", "colour"),
        ("run filters.py:scaled photo.png -o out.png --set gain=red", "gain"),
        ("run filters.py:scaled -o out.png", "im"),
        ("run filters.py:scaled photo.png photo.png -o out.png", "gain"),
        ("run filters.py:shifted photo.png -o out.png", "by"),
        ("run filters.py:faded photo.png -o out.png", "given with --set by=VALUE"),
        ("run filters.py:two photo.png -o out.png", "2 results"),
        (
            "run filters.py:parted --shape 2 4 -o out.png",
            "1 times; a colour is one result: return Vec3(...)",
        ),
        (
            "run filters.py:parted --shape 2 4 --seconds 1 -o out.gif",
            "parted has 3 results, a film one; a",
        ),
        ("run filters.py:scaled photo.png -o out.png --dtype long", "dtype"),
        ("run filters.py:scaled inks.jpg -o out.png", "inks.jpg: a PIL image of mode 'CMYK'"),
        ("run filters.py:ramp -o out.png", "shape"),
        ("run filters.py:fails photo.png -o out.png", "KeyError: 'missing'"),
        ("web filters.py:scaled photo.png --control gian=0,1", "no number is called 'gian'"),
        ("web filters.py:scaled photo.png -o nowhere/page.html", "nowhere/page.html: "),
        ("web filters.py:scaled photo.png --iterate 0", "1 or more; got 0"),
        ("run filters.py:scaled --camera 97 -o out.mp4", "camera 97: "),
        ("run filters.py:scaled --camera -o out.png", "--camera: takes no pictures, and -o once"),
        ("live filters.py:scaled --camera 97", "camera 97: "),
        ("live filters.py:nothing", "no function 'nothing'"),
        ("run filters.py:two photo.png -o out", "photo.png: 2 results; a folder takes one of each"),
        ("run films.py:waves --shape 9 9 -o out.gif --seconds inf", "a number above 0, got inf"),
        ("run pygpu.filters:label dots.png -o out.png", "400 does not fit in uint8: --dtype"),
        (
            "run filters.py:scaled photo.png sub/photo.png -o out",
            "out/photo.png: photo.png and sub/photo.png would both become it",
        ),
        ("run filters.py:scaled a.mp4 sub/a.mp4 -o out", "out/a.mp4: a.mp4 and sub/a.mp4 would"),
        (
            "run filters.py:scaled photo.png dots.png -o .",
            "photo.png: it would be overwritten; give",
        ),
    ],
)
def test_mistakes_are_told_in_a_line(
    place: Path, arguments: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    dots = np.zeros((40, 40), np.uint8)
    dots[::2, ::2] = 255
    PILImage.fromarray(dots).save("dots.png")
    assert main(arguments.split()) == 2
    told = capsys.readouterr().err
    assert words in told
    assert "Traceback" not in told
    assert not list(Path().glob("out*/*"))


def test_of_one_picture_it_is_not_said_that_it_is_one_of_one(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main("run filters.py:scaled nothing.png -o out/".split()) == 2
    assert capsys.readouterr().err == "pygpu: nothing.png: no such file\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("run median photo.png -o out.png", "is pygpu.filters:median meant?"),
        ("run filters.py:scaled photo.png", "are required: -o/--output ("),
        ("run filters.py:scaled photo.png -o -", "takes a path"),
        ("run filters.py:scaled photo.png -o out.png --gain 2", "--set gain=VALUE"),
        ("run filters.py:scaled photo.png -o out.png --set gain", "takes NAME=VALUE"),
        ("filter photo.png", "invalid choice: 'filter'"),
    ],
)
def test_what_cannot_be_parsed_is_told_in_a_line(
    place: Path, arguments: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments.split())
    told = capsys.readouterr().err
    assert stopped.value.code == 2
    assert words in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("run pygpu.filters:gausian photo.png -o out.png", "it has gaussian"),
        (
            "run filters.py photo.png -o out.png",
            "filters.py: takes FILE:FUNCTION; it has compiled, ",
        ),
        ("run empty.py photo.png -o out.png", "empty.py: takes FILE:FUNCTION; it has no function"),
        ("run missing.py photo.png -o out.png", "missing.py: no such file"),
        ("run filters:scaled photo.png -o out.png", "filters: no such file; filters.py is there"),
        ("run filters.py:scaled missing.mp4 -o out.mp4", "missing.mp4: no such file"),
        ("run filters.py:scaled . -o out.png", ".: a directory; * are the files in it"),
        ("run filters.py:scaled a.mp4 photo.png -o out", "go into a folder"),
        ("run films.py:waves --shape 16 32 -o out.mp4", "say how long it is, as in --seconds 4"),
        ("run films.py:blinks photo.png -o out.mp4", "say how long it is, as in --seconds 4"),
        ("run films.py:waves -o out.gif --seconds 1", "it needs the size of its result: --shape"),
        ("run films.py:waves -o out.jpg --seconds 1", "--seconds: takes -o once, a video or an"),
        ("run films.py:waves --shape 9 9 -o out.gif --seconds 0", "a number above 0, got 0"),
        (
            "run filters.py:scaled photo.png -o out.gif --seconds 1",
            "scaled has no parameter `time`",
        ),
    ],
)
def test_mistakes_are_told_with_what_would_work(
    place: Path, arguments: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty.py").write_text("from pygpu.filters import gaussian")
    assert main(arguments.split()) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    "source",
    [
        "@compile\ndef dark(im: Image, p: Position):\n    return 0.5 * im(p)",
        """
def kernel():
    return [0.5]

def dark(k, im: Image, p: Position):
    return sum([w * im(p) for w in kernel()]) * k

darker = compile(dark, k=1)
""",
        """
@compile
def half(im: Image, p: Position):
    return 0.5 * im(p)

def _unused(im):
    return im

@pipeline
def dark(im):
    return (lambda: half(im))()

def main():
    dark(None)
""",
    ],
    ids=["one", "compiled of others", "that uses the others"],
)
def test_of_a_file_alone_the_function_that_no_other_uses_is_taken(
    place: Path, source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("one.py").write_text(f"from pygpu import Image, Position, compile, pipeline\n{source}")
    assert main("run one.py photo.png -o out.png".split()) == 0
    have, given = (np.asarray(PILImage.open(name), int) for name in ("out.png", "photo.png"))
    assert np.abs(2 * have - given).max() <= 1
    assert main("web one.py photo.png".split()) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("dark")


def test_without_a_command_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([])
    assert stopped.value.code == 2
    assert "print what targets are here" in capsys.readouterr().err


def test_several_videos_go_into_a_folder(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("imageio_ffmpeg", reason="no imageio-ffmpeg")
    frames = np.full((3, 16, 32, 3), 100, np.uint8)
    for name in ("a.mp4", "b.mp4"):
        pygpu.animate(None, frames, name, fps=10)
    assert main("run filters.py:scaled a.mp4 b.mp4 -o made --set gain=0.5".split()) == 0
    for name in ("a.mp4", "b.mp4"):
        first = next(iter(pygpu.frames(f"made/{name}")))
        assert abs(int(first.mean()) - 50) < 4
    before = Path("a.mp4").read_bytes()
    assert main("run filters.py:scaled a.mp4 -o a.mp4".split()) == 2
    assert "overwritten" in capsys.readouterr().err
    assert Path("a.mp4").read_bytes() == before
    assert main("run filters.py:scaled a.mp4 missing.mp4 -o made".split()) == 2
    assert "1 of 2 videos could not be made" in capsys.readouterr().err


BROKEN = {
    "cut.png": "cut.png: ",
    "cut.jpg": "cut.jpg: ",
    "cut.tif": "cut.tif: ",
    "cut.webp": "cut.webp: ",
    "cut.mp4": "cut.mp4: ",
    "empty.png": "empty.png: ",
    "inks.jpg": "mode 'CMYK' is not taken; save it as RGB",
    "inks.tif": "inks.tif: ",
    "folder.png": "folder.png: a directory",
    "folder": "folder: a directory",
    "words.txt": "words.txt: ",
    "words.png": "words.png: ",
    "photo.raw": "photo.raw: ",
    "turning.tif": "turning.tif: it holds 3 pictures",
    "light.exr": "light.exr: ",
}


@pytest.fixture
def broken(place: Path) -> None:
    """Files that are not what they look like."""
    rng = np.random.default_rng(0)
    picture = PILImage.fromarray(rng.integers(0, 256, (40, 50, 3), dtype=np.uint8))
    for name in ("cut.png", "cut.jpg", "cut.tif", "cut.webp"):
        picture.save(name)
        Path(name).write_bytes(Path(name).read_bytes()[:300])
    Path("cut.mp4").write_bytes(b"\0\0\0 ftypisom")
    Path("empty.png").write_bytes(b"")
    picture.convert("CMYK").save("inks.tif")
    for name in ("folder.png", "folder"):
        Path(name).mkdir()
    for name in ("words.txt", "words.png", "photo.raw"):
        Path(name).write_text("no picture")
    pictures = [picture.rotate(90 * turn) for turn in range(3)]
    for name in ("turning.png", "turning.gif", "turning.webp", "turning.tif"):
        pictures[0].save(name, save_all=True, append_images=pictures[1:])


@pytest.mark.parametrize(("name", "words"), BROKEN.items())
def test_broken_pictures_are_told_in_a_line(
    broken: None,
    name: str,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if name == "light.exr":  # a codec that is missing
        monkeypatch.setitem(sys.modules, "OpenEXR", None)
        Path(name).write_bytes(b"v/1\x01")
    output = "out.mp4" if name == "cut.mp4" else "out.png"
    assert main(["run", "filters.py:scaled", name, "-o", output]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
    assert not Path(output).exists(), "nothing half-made is left"


def test_pictures_of_one_bit_are_bools(place: Path) -> None:
    PILImage.fromarray(np.eye(4, dtype=bool)).save("bits.png")
    assert main("run filters.py:look bits.png -o same.png".split()) == 0
    assert np.asarray(PILImage.open("same.png").convert("1")).tolist() == np.eye(4).tolist()


@pytest.mark.parametrize(
    ("name", "out"),
    [("turning.gif", "out.webp"), ("turning.png", "out.apng"), ("turning.webp", "out.gif")],
)
def test_animations_are_made_of_animations(broken: None, name: str, out: str) -> None:
    assert main(["run", "filters.py:scaled", name, "-o", f"no/{out}", "--set", "gain=0.5"]) == 2
    assert main(["run", "filters.py:scaled", name, "-o", out, "--set", "gain=0.5"]) == 0
    before, after = (np.stack(list(pygpu.frames(each))) for each in (name, out))
    assert before.shape == after.shape == (3, 40, 50, 3)
    assert abs(after.mean() / before.mean() - 0.5) < 0.02


def test_animations_in_a_folder_stay_animations(broken: None) -> None:
    files = "turning.gif turning.webp good.png"
    pygpu.Image(np.zeros((4, 5), np.uint8)).save("good.png")
    assert main(f"run filters.py:scaled {files} -o made".split()) == 0
    counts = [len(list(pygpu.frames(f"made/{file}"))) for file in files.split()]
    assert counts == [3, 3, 1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("photo.png -o out.xyz", "out.xyz: "),
        ("photo.png -o out", "out/photo.png"),
        ("photo.png -o out.exr", "out.exr: "),
        ("photo.png -o folder.png", "folder.png/photo.png"),
        ("photo.png -o out.mp4", "pip install 'pygpu[video]'"),
        (
            "turning.gif -o out.jpg",
            "turning.gif: it holds 3 pictures: an animation goes to",
        ),
        ("turning.gif -o out.mp4", "pip install 'pygpu[video]'"),
    ],
)
def test_outputs_that_cannot_be_written(
    broken: None,
    arguments: str,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for package in ("OpenEXR", "imageio_ffmpeg"):
        monkeypatch.setitem(sys.modules, package, None)
    code = main(["run", "filters.py:scaled", *arguments.split()])
    told = capsys.readouterr()
    assert words in told.err + told.out
    if words.endswith("photo.png"):  # into a folder
        assert code == 0
    else:
        assert code == 2
        assert told.err.count("\n") == 1


def test_refused_programs_show_the_place(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "filters.py:refused", "photo.png", "-o", "out.png"]) == 2
    told = capsys.readouterr().err
    assert "return chr(im(p))" in told
    assert "^^^" in told
    assert "CompileError" in told
    assert "Traceback" not in told


@pytest.mark.parametrize("arguments", ["run filters photo.png -o out.png", "run", "walk"])
def test_malformed_command_lines_exit_with_2(place: Path, arguments: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments.split())
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("function", "pictures", "said"),
    [
        (
            "scaled",
            2,
            "takes 1 image (im), got 2: leave out photo.png; a value is given with",
        ),
        ("compiled", 3, "takes 1 image (im), got 3: leave out photo.png photo.png"),
        ("told", 2, "takes 1 image (im), got 2: leave out photo.png"),
        ("look", 2, "takes 1 image (im), got 2: leave out photo.png"),
        ("ramp", 1, "takes no image, got 1: leave out photo.png"),
    ],
)
def test_a_picture_too_many_is_named(
    place: Path, capsys: pytest.CaptureFixture[str], function: str, pictures: int, said: str
) -> None:
    images = ["photo.png"] * pictures
    assert main(["run", f"filters.py:{function}", *images, "-o", "out.png"]) == 2
    assert capsys.readouterr().err.startswith(f"pygpu: {function} {said}")
    assert not (place / "out.png").exists()


def test_what_only_live_and_web_need_is_not_imported():
    code = "import sys, pygpu.command.cli; print({'http.server', 'webbrowser'} & {*sys.modules})"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout == "set()\n"


def test_jpegs_are_decoded_while_the_process_starts(place: Path) -> None:
    photo = PILImage.open(place / "photo.png").convert("RGB")
    for name in ("a.jpg", "b.JPEG"):
        photo.save(place / name, "JPEG")
    (place / "bad.jpg").write_bytes(b"\xff\xd8\xff")
    run = [sys.executable, "-m", "pygpu", "run", "filters.py:scaled", "a.jpg", "b.JPEG"]
    paths = {"PYTHONPATH": str(Path(pygpu.__file__).parents[1])}

    def done(*more: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*run, *more], capture_output=True, text=True, cwd=place, env=os.environ | paths
        )

    good, bad = done("-o", "out"), done("bad.jpg", "-o", "more")
    assert (good.returncode, bad.returncode) == (0, 2)
    assert good.stdout.splitlines()[0].startswith(f"{Path('out') / 'a.jpg'}: ")
    assert "bad.jpg" in bad.stderr
    assert "Traceback" not in bad.stderr
    assert (place / "out" / "a.jpg").read_bytes() == (place / "more" / "a.jpg").read_bytes()


def test_what_is_decoded_at_the_start() -> None:
    given = ["run", "f.py:f", "a.jpg", "b.png", "./c.JPEG", "-o", "out.jpg"]
    assert _pictures(given) == (["a.jpg", "c.JPEG"] if os.cpu_count() != 1 else [])
    assert _pictures([*given, "--watch"]) == _pictures(["show", *given[1:]]) == []
