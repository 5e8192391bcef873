"""Animations and videos, written and read frame by frame."""

import sys
import types
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image as PILImage

import pygpu
from pygpu import Float, Image, Position
from pygpu.image import camera

STACK = np.random.default_rng(0).integers(0, 256, (5, 24, 32, 3), dtype=np.uint8)


@pygpu.compile
def wave(p: Position, time: Float):
    return 0.5 + 0.5 * np.sin(0.3 * p.x + 6 * time)


@pygpu.compile
def brighter(im: Image, p: Position, gain: Float = 1.5):
    return gain * im(p)


def smooth(count: int, height: int = 48, width: int = 64) -> np.ndarray:
    """Frames that a video codec keeps."""
    x, t = np.arange(width), np.arange(count)[:, None, None]
    ramp = (x * 2 + 10 * t + np.zeros((1, height, 1))) % 256
    return np.stack([ramp, 255 - ramp, np.full_like(ramp, 90)], -1).astype(np.uint8)


@pytest.mark.parametrize("name", ["wave.gif", "wave.webp", "wave.png"])
def test_function_of_time_becomes_an_animation(tmp_path: Path, name: str) -> None:
    path = pygpu.animate(wave, 6, tmp_path / name, fps=20, shape=(20, 30))
    with PILImage.open(path) as picture:
        assert (picture.n_frames, picture.size) == (6, (30, 20))
        picture.seek(1)
        picture.load()
        assert picture.info["duration"] == pytest.approx(50)
    third = list(pygpu.frames(path))[3]
    want = np.asarray(wave(time=3 / 20, shape=(20, 30), dtype=np.uint8))
    assert np.abs(third[..., 0].astype(int) - want).mean() < 4


def test_what_arguments_name_is_left_to_them(tmp_path: Path) -> None:
    """Frames go to the first parameter that is free: `im` was given twice."""

    def mixed(im: Image, p: Position, gain: Float, other: Image):
        return pygpu.mix(im(p), other(p), gain)

    gains, path = [0.0, 1.0], tmp_path / "a.png"
    pygpu.animate(pygpu.compile(mixed), gains, path, im=STACK[0], other=STACK[1])
    np.testing.assert_array_equal(np.stack(list(pygpu.frames(path))), STACK[:2])
    pygpu.animate(pygpu.compile(mixed), STACK, path, im=STACK[0], gain=1.0)
    np.testing.assert_array_equal(np.stack(list(pygpu.frames(path))), STACK)
    pygpu.animate(lambda a, gain: a * gain, gains, path, a=STACK[0] / 255)
    np.testing.assert_array_equal(np.stack(list(pygpu.frames(path))), [0 * STACK[0], STACK[0]])


def test_frames_without_loss_are_those_that_were_given(tmp_path: Path) -> None:
    path = pygpu.animate(None, STACK, tmp_path / "stack.png")
    np.testing.assert_array_equal(np.stack(list(pygpu.frames(path))), STACK)


@pytest.mark.parametrize(("name", "height"), [("a.mp4", 48), ("a.webm", 48), ("odd.mp4", 47)])
def test_videos_are_written_and_read(tmp_path: Path, name: str, height: int) -> None:
    pytest.importorskip("imageio_ffmpeg", reason="no imageio-ffmpeg")
    stack = smooth(6, height)
    pygpu.animate(None, stack, tmp_path / name, fps=12, quality=95)
    found = np.stack(list(pygpu.frames(tmp_path / name)))[:, :height]
    assert found.shape == stack.shape
    assert np.abs(found.astype(int) - stack).mean() < 4
    filtered = pygpu.animate(brighter, pygpu.frames(tmp_path / name), tmp_path / "b.mp4", gain=0.5)
    half = next(pygpu.frames(filtered))[:height]
    assert np.abs(half.astype(int) - stack[0] // 2).mean() < 5


def test_frames_are_made_one_at_a_time(tmp_path: Path) -> None:
    alive = [0, 0]

    class Frame(np.ndarray):
        def __del__(self) -> None:
            alive[0] -= 1

    def made():
        for number in range(12):
            alive[0] += 1
            alive[1] = max(alive)
            frame = np.full((8, 8, 3), number, np.uint8).view(Frame)
            yield frame
            del frame

    pygpu.animate(None, made(), tmp_path / "a.gif")
    assert alive[1] <= 4


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((wave, 0, "a.gif"), ValueError, "frames: takes at least 1, got 0"),
        ((wave, 2.5, "a.gif"), TypeError, "frames: takes a number of frames, times or pictures"),
        ((None, [], "a.gif"), ValueError, "at least 1"),
        ((None, [np.zeros((1, 70_000, 3), np.uint8)], "a.gif"), ValueError, "most 65535 pixels"),
        ((None, [3], "a.gif"), TypeError, "frame 0: takes a picture, got 3"),
        ((None, [STACK[0], STACK[0][1:]], "a.gif"), ValueError, "frame 1 is of shape"),
        ((wave, 2, "a.xyz"), ValueError, "an animation is one of .gif"),
        ((wave, 2, "nowhere/a.gif"), FileNotFoundError, "there is no directory"),
    ],
)
def test_mistakes_are_told(
    tmp_path: Path, arguments: tuple[object, ...], error: type, words: str
) -> None:
    function, frames, name = arguments
    with pytest.raises(error, match=words):
        pygpu.animate(function, frames, tmp_path / str(name))


@pytest.mark.parametrize(("fps", "quality"), [(0, None), (-1, None), (25, 0), (25, 101)])
def test_numbers_out_of_range_are_told(tmp_path: Path, fps: float, quality: int | None) -> None:
    with pytest.raises(ValueError, match=r"takes .*; got|takes .*, got"):
        pygpu.animate(None, STACK, tmp_path / "a.gif", fps=fps, quality=quality)


def test_videos_that_are_none_are_told(tmp_path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg", reason="no imageio-ffmpeg")
    (tmp_path / "no.mp4").write_text("no video")
    with pytest.raises(OSError, match=r"no\.mp4: FFmpeg cannot read it"):
        next(pygpu.frames(tmp_path / "no.mp4"))
    with pytest.raises(FileNotFoundError, match="no such file"):
        pygpu.frames(tmp_path / "missing.mp4")
    with pytest.raises(FileNotFoundError, match="a directory"):
        pygpu.frames(tmp_path)


def test_package_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(ImportError, match=r"pip install 'pygpu\[video\]'"):
        pygpu.animate(None, STACK, tmp_path / "a.mp4")


@pytest.fixture
def no_camera(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(camera, "DEVICES", {sys.platform: ("v4l2", "/dev/no-video{}")})


@pytest.fixture
def test_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """FFmpeg's test picture in place of a camera."""
    pytest.importorskip("imageio_ffmpeg")
    source = "testsrc=size=64x48:rate=25"
    monkeypatch.setattr(camera, "DEVICES", {sys.platform: ("lavfi", source)})


def test_a_camera_gives_its_newest_frame(test_picture: None) -> None:
    seen = pygpu.frames(0)
    first, second = next(seen), next(seen)
    assert first.shape == second.shape == (48, 64, 3)
    assert first.dtype == np.uint8
    assert seen.fps == 25
    seen.close()
    assert len(list(seen)) <= 1, "what had come, and no more"


def test_a_camera_that_is_not_there_is_told(no_camera: None) -> None:
    pytest.importorskip("imageio_ffmpeg")
    with pytest.raises(OSError, match="camera 3: there is no /dev/no-video3"):
        next(pygpu.frames(3))


def test_a_camera_without_packages_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("imageio_ffmpeg", "cv2"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="camera 0: cameras need a package that reads them: pip"):
        next(pygpu.frames(0))


class Ffmpeg:
    """One that notes what it is asked for, and reads no camera."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def read_frames(self, device: str, pix_fmt: str, input_params: list[str]) -> Iterator[bytes]:
        self.asked = [device, *input_params]
        raise OSError("Selected framerate is not supported")
        yield


def test_cameras_of_macs_are_asked_for_30_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    ffmpeg = Ffmpeg()
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", ffmpeg)
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(OSError, match="camera 0: FFmpeg cannot read it: Selected framerate"):
        next(pygpu.frames(0))
    assert ffmpeg.asked == ["0:none", "-f", "avfoundation", "-framerate", "30"]


@pytest.mark.parametrize("ffmpeg", [None, Ffmpeg()], ids=["is not there", "cannot"])
def test_opencv_reads_cameras_where_ffmpeg(
    ffmpeg: Ffmpeg | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Capture:
        def __init__(self, number: int) -> None:
            self.left = 2 if number == 0 else 0

        def isOpened(self) -> bool:  # noqa: N802
            return self.left > 0

        def read(self) -> tuple[bool, np.ndarray | None]:
            self.left -= 1
            blue_first = np.full((4, 5, 3), (200, 100, 50), np.uint8)
            return (True, blue_first) if self.left >= 0 else (False, None)

        def get(self, what: int) -> float:
            return 12.0

        def release(self) -> None:
            pass

    opencv = types.SimpleNamespace(VideoCapture=Capture, CAP_PROP_FPS=5)
    monkeypatch.setattr(camera, "DEVICES", {sys.platform: ("v4l2", "camera{}")})
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", ffmpeg)
    monkeypatch.setitem(sys.modules, "cv2", opencv)
    seen = pygpu.frames(0)
    assert next(seen)[0, 0].tolist() == [50, 100, 200]
    assert seen.fps == 12
    refusal = "OpenCV finds none" if ffmpeg is None else "FFmpeg cannot read it"
    with pytest.raises(OSError, match=f"camera 1: {refusal}"):
        next(pygpu.frames(1))


def test_large_frames_of_a_gif_are_near_in_colour(tmp_path) -> None:
    """Many colours are found of a sample, few are kept as they are; thin frames have one, too."""
    photo = pygpu.data.astronaut()
    few = np.where(photo[..., :1] > 128, np.uint8([255, 0, 0]), np.uint8([0, 9, 80]))
    thin = np.tile(photo[:1], (1, 120, 1))
    for frame, far in ((photo, 4.4), (few, 0), (thin, 4)):
        pygpu.animate(None, [frame, frame[::-1, ::-1]], tmp_path / "a.gif", fps=5)
        found, _ = pygpu.frames(tmp_path / "a.gif")
        assert np.sqrt(np.mean((found.astype(float) - frame) ** 2)) <= far


@pytest.mark.parametrize("name", ["a.webp", "a.png", "a.gif"])
def test_alpha_is_kept_or_refused(tmp_path, name) -> None:
    alpha = np.full((2, *STACK.shape[1:3], 1), 100, np.uint8)
    alpha[1, 0] = 255
    pictures = np.concatenate([STACK[:2], alpha], axis=-1)
    if name == "a.gif":
        with pytest.raises(ValueError, match=r"a\.gif: a pixel of a GIF is opaque or clear, these"):
            pygpu.animate(None, pictures, tmp_path / name)
        pictures[..., 3] = np.where(alpha[..., 0] == 255, 255, 0)
        pictures[0, 1:, :, 3] = 255
    pygpu.animate(None, pictures, tmp_path / name)
    found = np.stack(list(pygpu.frames(tmp_path / name)))
    np.testing.assert_array_equal(found[..., 3], pictures[..., 3])
    pygpu.animate(None, pictures[:1], tmp_path / name)
    assert next(pygpu.frames(tmp_path / name)).shape == pictures[0].shape


@pytest.mark.parametrize(
    ("name", "options", "error", "words"),
    [
        ("a.gif", {"quality": 50}, TypeError, r"a\.gif: GIF takes no quality; WebP and videos do"),
        ("a.png", {"quality": 50}, TypeError, r"a\.png: PNG takes no quality"),
        ("a.gif", {"fps": 101}, ValueError, "from 0.01 to 100 in a GIF; got 101"),
        ("a.webp", {"fps": float("inf")}, ValueError, "from 0.01 to 1000; got inf"),
        ("a.gif", {"fps": 0.001}, ValueError, "from 0.01 to 100 in a GIF; got 0.001"),
        ("a.gif", {"fp": 3}, TypeError, "fp: no such option, and no function to be given it"),
    ],
)
def test_options_that_a_format_does_not_know_are_refused(tmp_path, name, options, error, words):
    with pytest.raises(error, match=words):
        pygpu.animate(None, STACK, tmp_path / name, **options)


@pytest.mark.parametrize("name", ["a.gif", "a.webp", "a.mp4"])
def test_a_file_is_whole_or_as_it_was(tmp_path, monkeypatch, name):
    pytest.importorskip("imageio_ffmpeg", reason="no imageio-ffmpeg")
    monkeypatch.chdir(tmp_path)
    pygpu.animate(None, STACK, name)
    before = Path(name).read_bytes()
    with pytest.raises(ValueError, match="frame 1 is of shape"):
        pygpu.animate(None, [STACK[0], STACK[0][1:]], name)
    assert Path(name).read_bytes() == before
    pygpu.animate(brighter, pygpu.frames(name), name, gain=0.5)  # of itself
    assert len(list(pygpu.frames(name))) == len(STACK)
    pygpu.animate(None, STACK, f"-{name}")  # no option of FFmpeg's
    Path(f"b{name}").mkdir()
    with pytest.raises(IsADirectoryError, match=f"b{name}: a directory"):
        pygpu.animate(None, STACK, f"b{name}")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"-{name}", name, f"b{name}"]


def test_a_video_that_cannot_be_written_is_an_error(tmp_path):
    pytest.importorskip("imageio_ffmpeg", reason="no imageio-ffmpeg")
    if not Path("/proc/self").is_dir():
        pytest.skip("no folder in which nobody may write")
    with pytest.raises(OSError, match=r"'/proc/a\.mp4'"):
        pygpu.animate(None, STACK, "/proc/a.mp4")


def test_frames_ended_by_ctrl_c_are_kept(tmp_path):
    pytest.importorskip("imageio_ffmpeg", reason="no imageio-ffmpeg")

    def made():
        yield from STACK
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pygpu.animate(None, made(), tmp_path / "a.mp4")
    assert len(list(pygpu.frames(tmp_path / "a.mp4"))) == len(STACK)


def test_a_picture_is_a_frame_as_imread_has_it(tmp_path):
    deep = np.linspace(0, 65535, 5 * 6).reshape(5, 6).astype(np.uint16)
    exif = PILImage.Exif()
    exif[0x0112] = 6  # turned by a quarter
    pygpu.imwrite(tmp_path / "a.png", deep, exif=exif)
    pygpu.imwrite(tmp_path / "a.tif", np.stack([deep, deep // 2]))
    expected = np.round(deep / 257).astype(np.uint8)[..., None].repeat(3, axis=2)
    assert_array_equal(list(pygpu.frames(tmp_path / "a.png")), [np.rot90(expected, -1)])
    assert_array_equal(next(pygpu.frames(tmp_path / "a.tif")), expected)
    assert len(list(pygpu.frames(tmp_path / "a.tif"))) == 2
    (tmp_path / "b.png").write_text("none")
    with pytest.raises(OSError, match=r"b\.png: no picture"):
        next(pygpu.frames(tmp_path / "b.png"))
