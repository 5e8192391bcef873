"""Which device `auto` is: hardware first, measured once; then the cpu; software OpenGL last."""

import numpy as np
import pytest

import pygpu
from pygpu.core.device import Device
from pygpu.core.errors import NoSuchDevice, TooOld
from pygpu.core.host import cache
from pygpu.devices import targets
from pygpu.devices.interpreter import InterpreterDevice


class Fake(Device):
    """A device that runs nothing."""

    def __init__(self, name, is_hardware=False, driver="driver"):
        self.name, self.is_hardware, self.driver = name, is_hardware, driver


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine with the devices named in `opened`; those in `hardware` are GPUs."""
    state = targets._State()
    machine = {"opened": set(), "hardware": set(), "times": {}, "measured": []}

    def open_device(name):
        if name not in machine["opened"]:
            raise pygpu.DeviceError(f"no {name}")
        device = Fake(name, name in machine["hardware"])
        return state.opened.setdefault(name, device)

    def measure(device):
        machine["measured"].append(device.name)
        return machine["times"][device.name]

    monkeypatch.setattr(targets, "_STATE", state)
    monkeypatch.setattr(targets, "open_device", open_device)
    monkeypatch.setattr(targets, "measure", measure)
    monkeypatch.setattr(targets, "_may_have_hardware", lambda: bool(machine["hardware"]))
    monkeypatch.setenv("PYGPU_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("PYGPU_CACHE", raising=False)
    monkeypatch.delenv("PYGPU_TARGET", raising=False)
    return machine


def test_without_a_gpu_it_is_the_cpu(machine):
    machine["opened"] = {"cpu", "fragment", "compute"}
    assert targets.choose("auto").name == "cpu"
    assert machine["measured"] == []


def test_software_opengl_is_taken_where_nothing_else_is_left(machine):
    machine["opened"] = {"fragment"}
    assert targets.choose("auto").name == "fragment"


def test_hardware_comes_first(machine):
    machine["opened"], machine["hardware"] = {"cpu", "compute"}, {"compute"}
    assert targets.choose("auto").name == "compute"
    assert machine["measured"] == []


@pytest.mark.parametrize("faster", ["fragment", "compute"])
def test_the_faster_of_two_is_measured_once_for_a_machine(machine, faster):
    machine["opened"] = machine["hardware"] = {"fragment", "compute"}
    machine["times"] = {"fragment": 2.0, "compute": 2.0, faster: 1.0}
    assert targets.choose("auto").name == faster
    assert sorted(machine["measured"]) == ["compute", "fragment"]
    targets.reset()
    assert targets.choose("auto").name == faster
    assert len(machine["measured"]) == 2
    cache.clear()
    targets.reset()
    assert targets.choose("auto").name == faster
    assert len(machine["measured"]) == 4


def test_one_that_fails_is_not_the_faster(machine):
    machine["opened"] = machine["hardware"] = {"fragment", "compute"}
    machine["times"] = {"fragment": 2.0, "compute": float("inf")}
    assert targets.choose("auto").name == "fragment"


def test_a_gpu_whose_programs_all_fail_is_left_alone_and_asked_again(machine):
    machine["opened"], machine["hardware"] = {"fragment", "compute", "cpu"}, {"fragment", "compute"}
    machine["times"] = {"fragment": float("inf"), "compute": float("inf")}
    assert targets.choose("auto").name == "cpu"
    targets.reset()
    machine["times"] = {"fragment": 1.0, "compute": 2.0}
    assert targets.choose("auto").name == "fragment"


def test_another_driver_is_measured_anew(machine, monkeypatch):
    machine["opened"] = machine["hardware"] = {"fragment", "compute"}
    machine["times"] = {"fragment": 2.0, "compute": 1.0}
    assert targets.choose("auto").name == "compute"
    for name in machine["opened"]:
        monkeypatch.setattr(targets.open_device(name), "driver", "newer driver")
    machine["times"] = {"fragment": 1.0, "compute": 2.0}
    targets.reset()
    assert targets.choose("auto").name == "fragment"


@pytest.mark.parametrize("content", [b"", b"cpu", b"\xff\xfe"])
def test_an_answer_on_disk_that_is_none_of_them_is_measured_anew(machine, monkeypatch, content):
    machine["opened"] = machine["hardware"] = {"fragment", "compute"}
    machine["times"] = {"fragment": 2.0, "compute": 1.0}
    monkeypatch.setattr(cache, "get", lambda kind, key: content)
    assert targets.choose("auto").name == "compute"


def test_without_a_cache_it_is_measured_once_in_a_process(machine, monkeypatch):
    monkeypatch.setenv("PYGPU_CACHE", "0")
    machine["opened"] = machine["hardware"] = {"fragment", "compute"}
    machine["times"] = {"fragment": 2.0, "compute": 1.0}
    for _ in range(3):
        assert targets.choose("auto").name == "compute"
    assert len(machine["measured"]) == 2


def test_where_nothing_is_every_attempt_is_told(machine):
    with pytest.raises(pygpu.DeviceError, match=r"(?s)cpu: no cpu.*fragment: no fragment"):
        targets.choose("auto")


def test_a_device_that_the_environment_names_must_be_there(machine, monkeypatch):
    opens = targets.open_device

    def open_device(name):
        if name != "cpu":
            raise NoSuchDevice("PYGPU_DEVICE='99': the devices here are 0")
        return opens(name)

    machine["opened"] = {"cpu"}
    monkeypatch.setattr(targets, "open_device", open_device)
    assert targets.choose("auto").name == "cpu"
    targets.reset()
    monkeypatch.setenv("PYGPU_DEVICE", "99")
    with pytest.raises(pygpu.DeviceError, match="PYGPU_DEVICE='99': the devices here are 0"):
        targets.choose("auto")
    assert targets.choose("cpu").name == "cpu"


def test_a_device_that_is_no_gpu_is_told_of(machine, monkeypatch, caplog):
    machine["opened"] = {"cpu", "fragment"}
    monkeypatch.setenv("PYGPU_DEVICE", "0")
    assert targets.choose("auto").name == "cpu"
    assert "PYGPU_DEVICE='0' is not taken: no compute" in caplog.text


def test_the_environment_is_read_at_each_use(machine, monkeypatch):
    machine["opened"] = {"cpu", "fragment"}
    assert targets.choose("auto").name == "cpu"
    monkeypatch.setenv("PYGPU_TARGET", "fragment")
    assert targets.choose("auto").name == "fragment"
    assert targets.choose("cpu").name == "cpu"


def test_a_driver_too_old_for_compute_programs_runs_fragments(machine, monkeypatch, caplog):
    opens = targets.open_device

    def open_device(name):
        if name == "compute":
            raise TooOld("compute programs take OpenGL 4.3")
        return opens(name)

    monkeypatch.setattr(targets, "open_device", open_device)
    machine["opened"] = {"fragment"}
    assert [targets.choose("compute").name for _ in range(3)] == ["fragment"] * 3
    assert caplog.text.count("4.3; running on fragment") == 1
    targets._STATE.after_fork()
    machine["opened"] = set()
    with pytest.raises(pygpu.DeviceError, match="no fragment"):
        targets.choose("compute")


def test_measuring_gives_seconds_and_infinity_where_it_fails():
    assert 0 < targets.measure(InterpreterDevice(), size=64) < 60
    assert targets.measure(Fake("broken")) == float("inf")


def test_every_run_is_timed_in_turn(target):
    device, order = targets.open_device(target), []
    times = device.seconds([lambda: order.append(1), lambda: order.append(2)] * 3)
    assert order[-6:] == [1, 2] * 3
    assert set(order[:-6]) <= {1}  # until a device is awake
    assert len(times) == 6
    assert min(times) >= 0


def test_software_opengl_can_be_measured(target):
    assert 0 < targets.measure(targets.open_device(target), size=64) < 60


def test_a_target_that_is_registered_is_asked_for_by_its_name(monkeypatch):
    monkeypatch.setattr(targets, "DEVICES", dict(targets.DEVICES))
    targets.register("new", targets.Target("new_target:NewDevice", is_public=False))
    f = pygpu.compile(lambda im, p: 2 * im(p), im=pygpu.Image, p=pygpu.Position, target="new")
    photo = np.random.default_rng(0).random((5, 7), np.float32)
    assert np.array_equal(f(photo), 2 * photo)
    image = pygpu.Image(photo)
    assert f(image).device == "new"
    assert f.target == f.lower(photo).target == f.profile(photo).target == "new"
    assert pygpu.tune(f, photo).shape is None
    assert pygpu.reduce(np.add, image, target="new") == pytest.approx(photo.sum(), rel=1e-6)
    assert targets.description(targets.open_device("new")) == {"device": "an imitation"}
    monkeypatch.setenv("PYGPU_TARGET", "new")
    assert image.max() == photo.max()
    with pytest.raises(ValueError, match="there is a target 'new'"):
        targets.register("new", targets.Target("new_target:NewDevice"))
    targets._STATE.opened.pop("new")
