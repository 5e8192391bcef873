"""What is said of programs that are refused: the golden texts of tests/goldens/errors.

A text has the user's line with its caret, the message, and the notes of calls.
"""

import re
import traceback
from pathlib import Path

import pytest

import pygpu
from programs import errors
from programs.suite import IMAGES

# What would fail in plain Python as well, and is raised as there. The rest PyGPU alone refuses.
RAISED = {
    "position_in_a_set": TypeError,
    "colours_over_each_other_without_a_position": TypeError,
    "component_of_a_number_set": AttributeError,
    "filter_of_a_colour": TypeError,
    "filter_without_a_position": TypeError,
    "number_stored_into": TypeError,
    "slices_of_lists_put_together": TypeError,
    "selections_by_two_masks": ValueError,
    "selection_beside_an_array": ValueError,
    "base_for_dynamic": TypeError,
    "class_attribute_deleted": AttributeError,
    "class_that_is_no_exception": TypeError,
    "context_that_fails": FileNotFoundError,
    "context_that_is_none": TypeError,
    "exception_that_nothing_handles": KeyError,
    "module_not_there": ModuleNotFoundError,
    "name_not_in_module": ImportError,
    "default_beside_several": TypeError,
    "digits_that_are_a_float": TypeError,
    "too_many_arguments_for_builtin": TypeError,
    "too_many_arguments_for_method": TypeError,
    "attribute_of_number": AttributeError,
    "attribute_of_number_in_called_function": AttributeError,
    "builtin_of_pygpu": AttributeError,
    "call_of_number": TypeError,
    "colour_of_one_channel": AttributeError,
    "colours_over_each_other": TypeError,
    "colours_of_one_channel_unpacked": TypeError,
    "comparison_of_number_and_string": TypeError,
    "delete_then_use": UnboundLocalError,
    "dynamic_index_of_number": TypeError,
    "dynamic_index_of_set": TypeError,
    "function_of_math_of_pygpu": AttributeError,
    "function_indexed_by_dynamic": TypeError,
    "image_of_ints_interpolated": ValueError,
    "attribute_that_complex_numbers_lack": AttributeError,
    "complex_number_in_an_array_of_floats": TypeError,
    "complex_number_of_a_vector": TypeError,
    "complex_numbers_in_order": TypeError,
    "greater_of_complex_numbers": TypeError,
    "greatest_complex_number": TypeError,
    "image_with_unknown_boundary": ValueError,
    "index_of_number": TypeError,
    "index_out_of_range": IndexError,
    "iteration_over_number": TypeError,
    "key_missing": KeyError,
    "key_missing_in_a_branch": KeyError,
    "key_missing_in_own_dict": KeyError,
    "key_missing_under_a_condition": KeyError,
    "known_assertion_fails": AssertionError,
    "known_attribute_missing": AttributeError,
    "known_call_fails": ValueError,  # a LinAlgError is one
    "known_division_by_zero": ZeroDivisionError,
    "known_raise": ValueError,
    "length_of_number": TypeError,
    "missing_argument": TypeError,
    "name_not_imported": NameError,
    "name_of_glsl": NameError,
    "name_of_math_not_imported": NameError,
    "name_unknown": NameError,
    "own_attribute_missing": AttributeError,
    "root_of_a_complex_number": TypeError,
    "rows_of_a_matrix_stored_together": TypeError,
    "swizzle_of_missing_component": AttributeError,
    "swizzle_of_mixed_sets": AttributeError,
    "too_many_arguments": TypeError,
    "unpacking_of_wrong_length": ValueError,
    "vector_with_too_few_components": TypeError,
    "whole_quotient_of_a_complex_number": TypeError,
    "slice_of_a_deque": TypeError,
    "method_that_deques_have_not": AttributeError,
}

# Where CPythons differ in the span they give an instruction, the message alone is compared.
VARYING = {
    "class_body_that_differs",
    "enumeration_of_dynamic",
    "assert_on_dynamic",
    "filtered_by_dynamic",
    "formatted_dynamic",
    "iteration_over_number",
}
# Of an assertion they raise from the test or from the statement: its text is compared, no carets.
UNMARKED = {"known_assertion_fails"}


@pytest.mark.parametrize("program", errors.program, ids=lambda program: program.name)
def test_refusal_says_what_is_wrong_and_where(program, golden) -> None:
    images = {name: IMAGES[name] for name in program.images}
    with pytest.raises(RAISED.get(program.name, pygpu.CompileError)) as caught:
        pygpu.compile(program.function, target="interpreter", **program.known)(
            **images, **program.dynamic
        )
    text = shown(caught.value)
    if program.name in VARYING:
        text = next(line for line in text.splitlines() if line.startswith(caught.typename)) + "\n"
    if program.name in UNMARKED:
        text = re.sub(r"^ *\^+\n", "", text, flags=re.MULTILINE)
    golden.check(f"errors/{program.name}.txt", text)


def shown(error: BaseException) -> str:
    """The error as Python prints it, without the traceback, paths and line numbers."""
    text = "".join(traceback.format_exception_only(error))
    text = re.sub(r'  File ".*", line \d+\n', "", text)
    text = re.sub(r"[^\s\"]*/(\w+\.py):\d+", r"\1", text)
    text = re.sub(r"\bline \d+", "line N", text)
    # from 3.12 on, and in other words from 3.15 on
    text = re.sub(r"\. Did you mean[^\n]*\?$", "", text, flags=re.MULTILINE)
    return re.sub(r"^pygpu\.", "", text, flags=re.MULTILINE)


def test_every_golden_text_has_its_program() -> None:
    names = {path.stem for path in (Path(__file__).parents[1] / "goldens" / "errors").glob("*.txt")}
    assert names <= {program.name for program in errors.program}
