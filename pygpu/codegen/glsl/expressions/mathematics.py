"""Functions of floats in GLSL, where drivers' own are missing or too inaccurate.

In float32 alone, within 2e-5 relative or 1e-6 absolute of the exact result, trigonometry up to
|a| = 8192. They rely on no order of evaluation that a driver may change.
"""

from typing import Final

from pygpu.codegen.glsl.expressions.helper import INF, NAN, Helper

# Polynomials are minimax fits, made with scipy.optimize.linprog over Chebyshev nodes; the error of
# each is below 1e-7 relative on its interval.
MATHEMATICS: Final[dict[str, Helper]] = {
    # ------------------------------------------------ powers and logarithms
    # The binary logarithm of a normal number in two floats. What masks cut off leaves products and
    # sums that are exact, and no driver can see through them.
    "log2_parts": Helper(
        "float",
        "float a, out float low",
        """
int bits = floatBitsToInt(a);
int e = (bits - 0x3f3504f3) >> 23;
float n = intBitsToFloat(bits - (e << 23)) - 1.0;
float s = n / (n + 2.0);
float t = s * s;
float tail = ((0.43165174 * t + 0.5767189) * t + 0.9617988) * t * s;
float slip = (n - 2.0 * s) - s * n;
float high = intBitsToFloat(floatBitsToInt(s) & ~0xfff);
float lead = high * 2.8847656;
float rest = (s - high) * 2.88539 + (high * 0.00062445097 + (tail + slip * 1.442695));
float sum = intBitsToFloat(floatBitsToInt(float(e) + (lead + rest)) & ~0xfff);
low = ((float(e) - sum) + lead) + rest;
return sum;
""",
    ),
    "pow": Helper(
        "float",
        "float a, float b",
        f"""
if (b == 0.0 || a == 1.0)
    return 1.0;
if (pg_isnan(a) || pg_isnan(b))
    return {NAN};
float m = abs(a);
if (m == 1.0 && pg_isinf(b))
    return 1.0;
float low;
float high = pg_log2_parts(m, low);
float lead = intBitsToFloat(floatBitsToInt(b) & ~0xfff);
float power = exp2(lead * high + ((b - lead) * high + b * low));
bool ends = m == 0.0 || pg_isinf(m);
if (ends || pg_isinf(b))
    power = (m < 1.0) == (b < 0.0) ? {INF} : 0.0;
if (floatBitsToInt(a) >= 0)
    return power;
if (floor(b) != b)
    return ends ? power : {NAN};
bool odd = abs(b) < 16777216.0 && (int(b) & 1) == 1;
return odd ? -power : power;
""",
        ("isnan", "isinf", "log2_parts"),
    ),
    "cbrt": Helper(
        "float",
        "float a",
        f"""
float m = abs(a);
if (!(m > 0.0 && m < {INF}))
    return a;
float root = intBitsToFloat(floatBitsToInt(m) / 3 + 709921077);
root -= (root - m / (root * root)) * 0.33333334;
root -= (root - m / (root * root)) * 0.33333334;
root -= (root - m / (root * root)) * 0.33333334;
return a < 0.0 ? -root : root;
""",
    ),
    "log10": Helper("float", "float a", "return log2(a) * 0.30103;"),
    "log1p": Helper(
        "float",
        "float a",
        """
if (!(a > -0.3 && a < 0.42))
    return log(1.0 + a);
float s = a / (2.0 + a);
float t = s * s;
return 2.0 * s * ((((0.10169121 * t + 0.14368892) * t + 0.19998287) * t + 0.33333343) * t + 1.0);
""",
    ),
    "expm1": Helper(
        "float",
        "float a",
        """
if (!(abs(a) < 0.5))
    return exp(a) - 1.0;
float p = ((0.00019993255 * a + 0.0013997449) * a + 0.008333072) * a + 0.041665316;
return a + a * a * ((p * a + 0.16666669) * a + 0.5);
""",
    ),
    # ------------------------------------------------ trigonometry
    # Cody and Waite: pi/2 in parts so short that their products with n are exact up to |a| = 8192.
    "quadrant": Helper(
        "float",
        "float a, out int n",
        """
float turns = roundEven(a * 0.63661975);
n = int(turns);
float r = (a - turns * 1.5703125) - turns * 0.0004837513;
return (r - turns * 7.5495336e-8) - turns * 2.563344e-12;
""",
    ),
    "sin_part": Helper(
        "float",
        "float r",
        """
float t = r * r;
return r + r * t * ((-0.00019516978 * t + 0.008332176) * t - 0.16666655);
""",
    ),
    "cos_part": Helper(
        "float",
        "float r",
        """
float t = r * r;
return (1.0 - 0.5 * t) + t * t * ((2.4438103e-5 * t - 0.0013887364) * t + 0.041666646);
""",
    ),
    "sin": Helper(
        "float",
        "float a",
        """
if (!(abs(a) < 65536.0))
    return sin(a);
int n;
float r = pg_quadrant(a, n);
float s = (n & 1) == 0 ? pg_sin_part(r) : pg_cos_part(r);
return (n & 2) == 0 ? s : -s;
""",
        ("quadrant", "sin_part", "cos_part"),
    ),
    "cos": Helper(
        "float",
        "float a",
        """
if (!(abs(a) < 65536.0))
    return cos(a);
int n;
float r = pg_quadrant(a, n);
float c = (n & 1) == 0 ? pg_cos_part(r) : pg_sin_part(r);
return ((n + 1) & 2) == 0 ? c : -c;
""",
        ("quadrant", "sin_part", "cos_part"),
    ),
    "tan": Helper(
        "float",
        "float a",
        """
if (!(abs(a) < 65536.0))
    return tan(a);
int n;
float r = pg_quadrant(a, n);
float s = pg_sin_part(r);
float c = pg_cos_part(r);
return (n & 1) == 0 ? s / c : -c / s;
""",
        ("quadrant", "sin_part", "cos_part"),
    ),
    "asin_part": Helper(  # |a| <= 1/2
        "float",
        "float a",
        """
float t = a * a;
float p = (0.042221345 * t + 0.024145737) * t + 0.045477543;
return a + a * t * ((p * t + 0.07495237) * t + 0.16666754);
""",
    ),
    "asin": Helper(
        "float",
        "float a",
        """
float m = abs(a);
if (m <= 0.5)
    return pg_asin_part(a);
float b = 1.5707964 - 2.0 * pg_asin_part(sqrt(0.5 * (1.0 - m)));
return a < 0.0 ? -b : b;
""",
        ("asin_part",),
    ),
    "acos": Helper(
        "float",
        "float a",
        """
float m = abs(a);
if (m <= 0.5)
    return 1.5707964 - pg_asin_part(a);
float b = 2.0 * pg_asin_part(sqrt(0.5 * (1.0 - m)));
return a < 0.0 ? 3.1415927 - b : b;
""",
        ("asin_part",),
    ),
    "atan_part": Helper(  # |a| <= 1
        "float",
        "float a",
        """
float t = a * a;
float p = ((0.0029745542 * t - 0.016581012) * t + 0.04355321) * t - 0.07580546;
p = (((p * t + 0.10678922) * t - 0.14214204) * t + 0.19994137) * t - 0.33333167;
return a + a * t * p;
""",
    ),
    "atan": Helper(
        "float",
        "float a",
        """
if (!(abs(a) > 1.0))
    return pg_atan_part(a);
return (a < 0.0 ? -1.5707964 : 1.5707964) - pg_atan_part(1.0 / a);
""",
        ("atan_part",),
    ),
    # Some devices divide by multiplying with the reciprocal, and flush what is subnormal: that of
    # 2**126 and more. So what is large is made smaller before it divides, here and in hypot.
    "atan2": Helper(
        "float",
        "float b, float a",
        """
float x = abs(a);
float y = abs(b);
float scale = max(x, y) > 1.2676506e30 ? 2.3283064e-10 : 1.0;
x *= scale;
y *= scale;
float angle = x == y ? 0.7853982 : y > x ? 1.5707964 - pg_atan_part(x / y) : pg_atan_part(y / x);
if (x == 0.0 && y == 0.0)
    angle = 0.0;
if (floatBitsToInt(a) < 0)
    angle = 3.1415927 - angle;
return floatBitsToInt(b) < 0 ? -angle : angle;
""",
        ("atan_part",),
    ),
    # ------------------------------------------------ hyperbolic functions
    "sinh": Helper(
        "float",
        "float a",
        """
float m = abs(a);
float t = a * a;
if (m < 1.0)
    return a + a * t * ((0.00020377401 * t + 0.008330211) * t + 0.16666718);
float e = exp(0.5 * m);
precise float half_of = (0.5 * e) * e;
float s = half_of - 0.5 / e / e;
return a < 0.0 ? -s : s;
""",
    ),
    "cosh": Helper(
        "float",
        "float a",
        """
float e = exp(0.5 * abs(a));
precise float half_of = (0.5 * e) * e;
return half_of + 0.5 / e / e;
""",
    ),
    "tanh": Helper(
        "float",
        "float a",
        """
float m = abs(a);
float t = a * a;
if (m < 0.625) {
    float p = (-0.0057170638 * t + 0.020650605) * t - 0.053743504;
    return a + a * t * ((p * t + 0.13331491) * t - 0.33333284);
}
float s = 1.0 - 2.0 / (exp(2.0 * m) + 1.0);
return a < 0.0 ? -s : s;
""",
    ),
    "asinh": Helper(
        "float",
        "float a",
        """
float m = abs(a);
float s = log(m) + 0.6931472;
if (!(m > 10000.0))
    s = pg_log1p(m + m * m / (1.0 + sqrt(m * m + 1.0)));
return a < 0.0 ? -s : s;
""",
        ("log1p",),
    ),
    "acosh": Helper(
        "float",
        "float a",
        """
if (a > 10000.0)
    return log(a) + 0.6931472;
float t = a - 1.0;
return pg_log1p(t + sqrt(a < 1.0 ? -1.0 : t * (t + 2.0)));
""",
        ("log1p",),
    ),
    "atanh": Helper(
        "float",
        "float a",
        """
float m = abs(a);
float s = 0.5 * pg_log1p(2.0 * m / (1.0 - m));
return a < 0.0 ? -s : s;
""",
        ("log1p",),
    ),
    "hypot": Helper(
        "float",
        "float a, float b",
        f"""
bool turn = abs(b) > abs(a);
float m = abs(turn ? b : a);
float scale = m > 1.2676506e30 ? 2.3283064e-10 : 1.0;
float r = (turn ? a : b) * scale / (m * scale);
if (pg_isinf(a) || pg_isinf(b))
    return {INF};
return m == 0.0 ? abs(b) : m * sqrt(1.0 + r * r);
""",
        ("isinf",),
    ),
    # ------------------------------------------------ the error function
    "erf_part": Helper(  # |a| <= 1
        "float",
        "float a",
        """
float t = a * a;
float p = ((-0.00056541058 * t + 0.0049232775) * t - 0.026716385) * t + 0.11280365;
return a + a * ((p * t - 0.3761235) * t + 0.12837912);
""",
    ),
    # erfc of a >= 0.75. The square is taken apart so that nothing of it is rounded.
    "erfc_part": Helper(
        "float",
        "float a",
        """
float m = min(a, 10.3);
float n = floor(m * 32.0) * 0.03125;
float t = 2.0 / (2.0 + m) - 0.4375;
float p = ((0.0956736 * t - 0.096583001) * t - 0.19315286) * t + 0.12501463;
p = (((p * t + 0.60847563) * t + 0.85010368) * t + 0.74087179) * t + 0.2056202;
return exp(-n * n) * exp((n - m) * (n + m)) * p;
""",
    ),
    "erf": Helper(
        "float",
        "float a",
        """
if (abs(a) < 1.0 || pg_isnan(a))
    return pg_erf_part(a);
float s = 1.0 - pg_erfc_part(abs(a));
return a < 0.0 ? -s : s;
""",
        ("isnan", "erf_part", "erfc_part"),
    ),
    "erfc": Helper(
        "float",
        "float a",
        """
if (abs(a) < 0.75 || pg_isnan(a))
    return 1.0 - pg_erf_part(a);
float s = pg_erfc_part(abs(a));
return a < 0.0 ? 2.0 - s : s;
""",
        ("isnan", "erf_part", "erfc_part"),
    ),
    # ------------------------------------------------ the gamma function
    # Steps of four, then of one, lead to [1, 2]; those of numbers that are not positive are exact.
    "gamma": Helper(
        "float",
        "float a",
        f"""
if (a <= 0.0 && a == floor(a))
    return a == 0.0 ? 1.0 / a : {NAN};
if (pg_isnan(a))
    return a;
if (a > 36.0 || a < -37.0)
    return a > 0.0 ? {INF} : 0.0;
float above = 1.0;
float below = 1.0;
for (int i = 0; i < 9; i++) {{
    if (a >= 5.0) {{
        a -= 4.0;
        above *= (a * (a + 1.0)) * ((a + 2.0) * (a + 3.0));
    }} else if (a < -3.0) {{
        below *= (a * (a + 1.0)) * ((a + 2.0) * (a + 3.0));
        a += 4.0;
    }}
}}
for (int i = 0; i < 4; i++) {{
    if (a >= 2.0) {{
        a -= 1.0;
        above *= a;
    }} else if (a < 1.0) {{
        below *= a;
        a += 1.0;
    }}
}}
float t = a - 1.5;
float p = ((0.016345858 * t - 0.023749819) * t + 0.024381261) * t - 0.036257721;
p = (((p * t + 0.058805905) * t - 0.077720285) * t + 0.14463365) * t - 0.10728582;
return above / below * (((p * t + 0.41481371) * t + 0.032338284) * t + 0.88622692);
""",
        ("isnan",),
    ),
    # Of a > 0, from 3 on by Stirling's series. A driver that took the product apart, or made it
    # one with log2(a) and a constant, would overflow where the result does not.
    "lgamma_part": Helper(
        "float",
        "float a",
        """
float t = 1.0 / (a * a);
float series = ((-0.00059523810 * t + 0.00079365079) * t - 0.0027777778) * t + 0.083333333;
if (a >= 3.0)
{
    precise float grown = (a - 0.5) * (log(a) - 1.0);
    return grown + (series / a + 0.41893853);
}
float first = a < 1.0 ? -log(a) : 0.0;
t = a < 1.0 ? a - 1.0 : a - 2.0;
float p = ((7.8175629e-5 * t - 0.00015893852) * t + 0.00013063244) * t - 0.00031905229;
p = (((p * t + 0.00094429662) * t - 0.0021486637) * t + 0.0049915609) * t - 0.012376653;
p = ((p * t + 0.032965626) * t - 0.10031769) * t + 0.42278433;
return first + (t + 1.0) * t * p;
""",
    ),
    # Of negative numbers that are not far from zero, zeros of the result are where gamma is 1 or
    # -1: there the difference of two logarithms would be too coarse.
    "lgamma": Helper(
        "float",
        "float a",
        f"""
if (pg_isinf(a) || (a <= 0.0 && a == floor(a)))
    return {INF};
if (a > 0.0 || pg_isnan(a))
    return pg_lgamma_part(a);
if (a > -10.5)
    return log(abs(pg_gamma(a)));
float away = abs(a - roundEven(a));
return log(3.1415927 / pg_sin(3.1415927 * away)) - pg_lgamma_part(1.0 - a);
""",
        ("isnan", "isinf", "gamma", "sin", "lgamma_part"),
    ),
}
