"""A function that a GLSL program brings along: written for scalars, with a form for vectors.

Helper("float", "float a", "return a * a;").text("square")      # float pg_square(float a) {...
"""

from typing import Final

from pygpu.core.host.records import record

PREFIX: Final = "pg_"
INF: Final = "uintBitsToFloat(0x7f800000u)"
NAN: Final = "uintBitsToFloat(0x7fc00000u)"


@record
class Helper:
    """A function of scalars in GLSL: types, names of parameters, body, and what it calls."""

    result: str
    params: str  # as in a declaration: "float a, int b"
    body: str
    needs: tuple[str, ...] = ()
    # As a macro: NVIDIA's driver ceases to inline the functions of programs that call very many,
    # and computes other numbers then where they take float16 apart.
    is_macro: bool = False

    def text(self, name: str) -> str:
        if self.is_macro:
            names = ", ".join(param.split()[1] for param in self.params.split(", "))
            return f"#define {PREFIX}{name}({names}) {self.body.removeprefix('return ')[:-1]}"
        lines = [line and f"    {line}" for line in self.body.strip("\n").splitlines()]
        return "\n".join([f"{self.result} {PREFIX}{name}({self.params}) {{", *lines, "}\n"])

    def vector_text(self, name: str, size: int) -> str:
        """The function of vectors, a component at a time."""
        params = [param.split() for param in self.params.split(", ")]
        calls = ", ".join(
            f"{PREFIX}{name}({', '.join(f'{param}.{axis}' for _, param in params)})"
            for axis in "xyzw"[:size]
        )
        declared = ", ".join(f"{_vector(kind, size)} {param}" for kind, param in params)
        result = _vector(self.result, size)
        head = f"{result} {PREFIX}{name}({declared}) {{"
        return f"{head}\n    return {result}({calls});\n}}\n"


def _vector(kind: str, size: int) -> str:
    return {"float": "", "int": "i", "bool": "b", "uint": "u"}[kind] + f"vec{size}"
