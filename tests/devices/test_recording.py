"""What runs on whole images, written down and not run."""

import threading

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Position
from pygpu.devices.recording import recorded

PHOTO = np.random.default_rng(0).random((5, 7)).astype(np.float32)


@pygpu.compile
def scaled(im: Image, p: Position, gain: Float = 1.0):
    return gain * im(p)


def test_steps_are_in_order_with_what_they_read_and_make() -> None:
    photo = Image(PHOTO)
    with recorded() as recording:
        result = scaled(scaled(photo, 2.0) + photo, 3.0)
    first, added, last = recording.steps
    assert recording.given() == [recording.place(photo.storage)]
    assert added.inputs == (first.outputs[0], first.inputs[0])
    assert last.outputs == (recording.place(result.storage),)
    assert (first.uniforms, last.uniforms) == ((2.0,), (3.0,))
    assert result.shape == photo.shape


def test_texels_are_missing_and_said_to_be() -> None:
    with recorded():
        result = scaled(Image(PHOTO))
    for use in (np.asarray, Image.to_pil, Image.max):
        with pytest.raises(pygpu.DeviceError, match="texels of an image that is only recorded"):
            use(result)


def test_arrays_to_fill_are_refused() -> None:
    with recorded(), pytest.raises(pygpu.DeviceError, match="out= takes texels"):
        scaled(Image(PHOTO), out=np.empty_like(PHOTO))


def test_calls_after_it_and_of_other_threads_run() -> None:
    found = []
    with recorded() as recording:
        thread = threading.Thread(target=lambda: found.append(scaled(PHOTO, 2.0)))
        thread.start()
        thread.join()
    assert recording.steps == []
    np.testing.assert_array_equal(found[0], 2 * PHOTO)
    np.testing.assert_array_equal(scaled(PHOTO, 2.0), 2 * PHOTO)


def test_targets_that_are_asked_for_run() -> None:
    with recorded() as recording:
        np.testing.assert_array_equal(scaled.on("cpu")(PHOTO, 2.0), 2 * PHOTO)
    assert recording.steps == []
