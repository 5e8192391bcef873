"""Programs that run together, strip by strip, give what they give one by one, to the bit."""

import random
import threading

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position
from pygpu.core.builder import Builder
from pygpu.core.programs import Task
from pygpu.core.storage import Format, Storage
from pygpu.devices.cpu import strips
from pygpu.devices.cpu.device import CpuDevice
from pygpu.execution.arguments.results import natural_dtype
from pygpu.execution.pipelines import stages
from pygpu.execution.pipelines.plans import Stage
from pygpu.passes.simplify.pipeline import simplify
from pygpu.ssa import BOUNDARIES, Function, ImageInput, Region, Value
from pygpu.types import FLOAT, INT

DTYPES = ("float32", "float32", "uint8", "uint16", "float16", "int16")


@pytest.fixture(autouse=True)
def several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strips and threads for small images, too."""
    monkeypatch.setenv("PYGPU_THREADS", "3")
    monkeypatch.setattr(strips, "SMALL", 0)
    monkeypatch.setattr(strips, "AGAIN", 100.0)
    monkeypatch.setenv("PYGPU_TARGET", "cpu")


def random_stage(source: random.Random, formats: list[Format], far: bool) -> Function:
    """A function of some images: sums and products of taps, of places, in a loop, a branch."""
    build = Builder("stage", [ImageInput(f"im{i}", f.type) for i, f in enumerate(formats)])
    reach = source.choice((0, 1, 1, 2, 4))
    terms: list[Value] = []
    for index, format in enumerate(formats):
        for _ in range(source.randint(1, 4)):
            dx, dy = source.randint(-reach, reach), source.randint(-reach, reach)
            boundary = source.choice(BOUNDARIES)
            value = build.load(index, build.x, build.y, boundary, (0.5,), dx, dy)
            if format.kind != "float":
                value = build.emit("to_float", value)
            terms.append(value)
        if far:
            place = build.emit("mul", build.x, build.constant(INT, 2))
            value = build.load(index, place, build.y, "nearest")
            terms.append(value if format.kind == "float" else build.emit("to_float", value))
    if source.random() < 0.3:
        terms.append(
            build.emit("mul", build.emit("to_float", build.y), build.constant(FLOAT, 0.01))
        )
    total = terms[0]
    for term in terms[1:]:
        total = build.emit(source.choice(("add", "sub", "mul", "min", "max")), total, term)
    if source.random() < 0.2:
        total = halved(build, total)
    return simplify(build.finish([total, terms[0]][: source.randint(1, 2)]))


def halved(build: Builder, value: Value) -> Value:
    """Divided by two until it is small: lanes leave the loop when they like."""
    body = Region((Value(FLOAT, "v"),))
    with build.inside(body):
        half = build.emit("mul", body.params[0], build.constant(FLOAT, 0.5))
        go = build.emit("gt", half, build.constant(FLOAT, 0.3))
        body.results = (go, half)
    return build.append("loop", [value], [FLOAT], [body])[0]


class Chain:
    """Random programs that read images and one another's results."""

    def __init__(self, seed: int) -> None:
        self.source = source = random.Random(seed)
        rng = np.random.default_rng(seed)
        self.shape = source.choice(((40, 61), (75, 33), (29, 130), (130, 17), (64, 64)))
        self.device = CpuDevice()
        self.images: dict[int, Storage] = {}
        self.formats: dict[int, Format] = {}
        for number in range(2):
            format = self.format()
            size = (*self.shape, 1) if source.random() < 0.8 else (20, 31, 1)
            texels = (rng.random(size) * 200).astype(format.dtype)
            if format.dtype.kind == "f":
                texels /= format.dtype.type(200)
            self.images[number], self.formats[number] = Storage.of(texels), format
        self.ready = [self.stage() for _ in range(source.randint(2, 6))]
        made = [number for each in self.ready for number in each.stage.makes]
        self.wanted = {made[-1], source.choice(made), source.choice(made)}

    def format(self) -> Format:
        return Format(np.dtype(self.source.choice(DTYPES)), 1)

    def stage(self) -> stages.Ready:
        source = self.source
        reads = source.sample(sorted(self.formats), source.randint(1, min(3, len(self.formats))))
        formats = [self.formats[number] for number in reads]
        function = random_stage(source, formats, source.random() < 0.1)
        outputs = []
        for value in function.outputs:
            kind = self.format()
            natural = Format(np.dtype(natural_dtype(value.type)), 1)
            outputs.append(kind if kind.kind == "float" else natural)
        first = len(self.formats)
        makes = list(range(first, first + len(outputs)))
        self.formats.update(zip(makes, outputs, strict=True))
        task = Task(function, tuple(formats), tuple(outputs))
        program = self.device.compile(task)
        stage = Stage([0], makes, set(reads))
        return stages.Ready(stage, task, self.device, program, tuple(reads), (), self.shape)

    def one_by_one(self) -> dict[int, Storage]:
        images = dict(self.images)
        for each in self.ready:
            made = each.run([images[number] for number in each.reads], [])
            images.update(zip(each.stage.makes, made, strict=True))
        return images

    def together(self) -> tuple[dict[int, Storage], int]:
        images, linked = dict(self.images), 0
        for group in stages._grouped(self.device, self.ready, self.wanted):
            images |= group.run(images, [[] for _ in group.stages])
            linked += group.linked is not None
        return images, linked


def test_random_programs_in_strips() -> None:
    linked = 0
    for seed in range(60):
        chain = Chain(seed)
        want = chain.one_by_one()
        for _ in range(2):
            have, found = chain.together()
            for number in chain.wanted:
                a, b = want[number].host(), have[number].host()
                assert a.dtype == b.dtype
                assert a.tobytes() == b.tobytes(), (seed, number)
        linked += found
    assert linked > 40


@pygpu.compile
def smooth(im: Image, p: Position):
    return (im(p - (0, 3)) + im(p) + im(p + (0, 3)) + im(p + (2, 0))) / 4


@pygpu.compile
def sharp(im: Image, low: Image, p: Position):
    return 2 * im(p) - low(p)


def chain(im):
    low = smooth(smooth(im))
    return sharp(im, low), low


def test_memory_does_not_grow_with_height() -> None:
    kept = []
    for height in (400, 4000):
        piped = pygpu.pipeline(chain)
        piped(Image(np.random.default_rng(1).random((height, 50), np.float32)))
        (groups,) = piped._runner._ready.values()
        (group,) = groups
        assert group.linked is not None
        kept.append(group.linked.own)
    assert kept[0] == kept[1]


def test_what_is_shown_of_strips() -> None:
    lowered = pygpu.pipeline(chain).lower(Image(np.zeros((100, 50), np.float32)))
    assert lowered.stats["jobs"] == 1 < lowered.stats["stages"]
    assert "as rows in a cache" in str(lowered)
    texel = 100 * 50 * 4
    assert lowered.stats["bytes"] == 5 * texel  # the photo twice, two results, one of them read


def test_threads_may_run_one_pipeline_at_once() -> None:
    piped, images = pygpu.pipeline(chain), []
    for seed in range(4):
        images.append(Image(np.random.default_rng(seed).random((90, 41), np.float32)))
    want = [[each.numpy() for each in chain(image)] for image in images]
    wrong: list[int] = []

    def run(place: int) -> None:
        for _ in range(20):
            for a, b in zip(want[place], piped(images[place]), strict=True):
                if not np.array_equal(a, b.numpy()):
                    wrong.append(place)

    threads = [threading.Thread(target=run, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_images_of_other_sizes_are_made_whole() -> None:
    @pygpu.compile
    def halved_size(im: Image, p: Position):
        return (im(2 * p) + im(2 * p + (1, 1))) / 2

    def pyramid(im):
        low = smooth(im)
        small = halved_size(low, shape=(im.height // 2, im.width // 2))
        return smooth(sharp(small, smooth(small)))

    image = Image(np.random.default_rng(3).random((80, 62), np.float32))
    np.testing.assert_array_equal(pygpu.pipeline(pyramid)(image).numpy(), pyramid(image).numpy())


def test_what_fails_in_strips_names_the_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise MemoryError("no more")

    monkeypatch.setattr(strips.CpuStrips, "run", fail)
    with pytest.raises(MemoryError) as caught:
        pygpu.pipeline(chain)(Image(np.zeros((100, 50), np.float32)))
    assert "test_strips.py" in "".join(caught.value.__notes__)


def test_rows_that_are_kept_lie_before_no_stores_of_results(monkeypatch):
    """Wherever in a page these begin, results of several sizes by turns."""
    headers = []
    fill = strips.StripsJob.fill

    def noted(self, places, uniforms):
        fill(self, places, uniforms)
        headers.append((self.header.numbers, places[-1]))

    monkeypatch.setattr(strips.StripsJob, "fill", noted)
    monkeypatch.setenv("PYGPU_THREADS", "1")

    def mean(im: Image, p: Position):
        return sum([im(p + (i, j)) for i in range(-3, 4) for j in range(-3, 4)]) / 49

    compiled = pygpu.compile(mean)
    texels = np.random.default_rng(1).random((64, 1024), np.float32)
    want = compiled(texels[:, :1000].copy()), compiled(texels)
    memory = np.empty(texels.nbytes + 2 * 4096, np.uint8)
    start = -memory.__array_interface__["data"][0] % 4096
    for place in (0, 64, 1040, 2048, 4000):
        for width, expected in zip((1000, 1024), want, strict=True):
            part = memory[start + place :][: 64 * 4 * width]
            out = part.view(np.float32).reshape(64, width)
            compiled(texels[:, :width].copy(), out=out)
            assert out.tobytes() == expected.tobytes()
        numbers, result = headers[-1]
        assert result % 4096 == place
        shift = numbers[strips.slots.OWN] % 4096
        assert min((place // 64 * 64 - shift - 64 * row) % 4096 for row in range(30)) >= 192
