"""Functions of packages, called as they are: what a pixel is made of goes in, numbers come out.

A package that is not installed leaves its programs out, and the test says so.
"""

import colorsys
import math

import numpy as np

from corpus.suite import Corpus, module
from pygpu import Image, Position

program = Corpus()

astral = module("astral.sun")
chemicals = module("chemicals")
coloraide = module("coloraide")
colormath = module("colormath.color_diff_matrix")
colorzero = module("colorzero.conversions")
colour = module("colour")
easing_functions = module("easing_functions")
fluids = module("fluids")
geographiclib = module("geographiclib.geomath")
haversine = module("haversine")
hsluv = module("hsluv")
iapws = module("iapws")
meteocalc = module("meteocalc")
numpy_financial = module("numpy_financial")
opensimplex = module("opensimplex.internals")
perlin_noise = module("perlin_noise.tools")
pymap3d = module("pymap3d")
pysolar = module("pysolar.solar")
psychrolib = module("psychrolib")
pytweening = module("pytweening")
svg_path = module("svg.path")
suncalc = module("suncalc.suncalc")
transforms3d = module("transforms3d")
utm = module("utm.conversion")
pyrr = module("pyrr")
svg_path = module("svg.path")
vnoise = module("vnoise.vnoise")
wcag = module("wcag_contrast_ratio")
webcolors = module("webcolors")


# ---------------------------------------------------------------- colours


@program
def colorsys_hsv(rgb: Image, p: Position):
    return colorsys.rgb_to_hsv(*rgb(p))


@program
def colorsys_hsv_there_and_back(rgb: Image, p: Position):
    h, s, v = colorsys.rgb_to_hsv(*rgb(p))
    return colorsys.hsv_to_rgb((h + 0.3) % 1.0, s * 0.5, v)


@program
def colorsys_hls(rgb: Image, p: Position):
    return colorsys.rgb_to_hls(*rgb(p))


@program
def colorsys_hls_there_and_back(rgb: Image, p: Position):
    h, l, s = colorsys.rgb_to_hls(*rgb(p))
    return colorsys.hls_to_rgb(h, l * 0.9, s)


@program
def colorsys_yiq(rgb: Image, p: Position):
    y, i, q = colorsys.rgb_to_yiq(*rgb(p))
    return colorsys.yiq_to_rgb(y, 0.5 * i, q)


@program(needs=hsluv)
def hsluv_of_rgb(rgb: Image, p: Position):
    return tuple(hsluv.rgb_to_hsluv(tuple(0.05 + 0.9 * c for c in rgb(p))))


@program(needs=hsluv)
def hsluv_turned(rgb: Image, p: Position):
    h, s, l = hsluv.rgb_to_hsluv([0.05 + 0.9 * c for c in rgb(p)])
    return tuple(hsluv.hsluv_to_rgb([(h + 90) % 360, s * 0.7, l]))


@program(needs=hsluv)
def hsluv_pastel(rgb: Image, p: Position):
    r, g, b = rgb(p)
    return tuple(hsluv.hpluv_to_rgb((360 * r, 80 * g, 20 + 60 * b)))


@program(needs=hsluv)
def hsluv_lightness(rgb: Image, p: Position):
    l, u, v = hsluv.xyz_to_luv(hsluv.rgb_to_xyz(rgb(p)))
    return l + 0.1 * u - 0.1 * v


@program(needs=wcag)
def wcag_contrast(rgb: Image, p: Position):
    return wcag.rgb(tuple(rgb(p)), tuple(rgb(p + (1, 0))))


@program(needs=wcag)
def wcag_passes(rgb: Image, p: Position):
    ratio = wcag.rgb(tuple(rgb(p)), (1.0, 1.0, 1.0))
    return wcag.passes_AA(ratio), wcag.passes_AAA(ratio, large=True)


@program(needs=webcolors)
def webcolors_named(rgb: Image, p: Position):
    named = [webcolors.name_to_rgb(n) for n in ("navy", "teal", "coral", "ivory", "black")]
    r, g, b = 255 * rgb(p)
    return min((c.red - r) ** 2 + (c.green - g) ** 2 + (c.blue - b) ** 2 for c in named)


@program(needs=colour)
def colour_srgb_encoding(unit: Image, p: Position):
    return float(colour.models.eotf_inverse_sRGB(unit(p)))


@program(needs=colour)
def colour_srgb_decoding(unit: Image, p: Position):
    return float(colour.models.eotf_sRGB(unit(p)))


@program(needs=colour)
def colour_rec709(unit: Image, p: Position):
    return float(colour.models.oetf_BT709(unit(p)))


@program(needs=colour)
def colour_pq(unit: Image, p: Position):
    return float(colour.models.eotf_inverse_ST2084(1000 * unit(p)))


@program(needs=colour)
def colour_lightness(unit: Image, p: Position):
    return float(colour.colorimetry.lightness_CIE1976(100 * unit(p)))


@program(needs=colour)
def colour_lab(rgb: Image, p: Position):
    return tuple(colour.XYZ_to_Lab([0.1 + 0.8 * c for c in rgb(p)]))


@program(needs=colour)
def colour_xyy(rgb: Image, p: Position):
    return tuple(colour.XYZ_to_xyY([0.1 + 0.8 * c for c in rgb(p)]))


@program(needs=colour)
def colour_difference(rgb: Image, p: Position):
    r, g, b = rgb(p)
    return float(colour.difference.delta_E_CIE1976((50 * r, 40 * g, 30 * b), (25.0, 10.0, 5.0)))


@program(needs=colour)
def colour_log_curve(unit: Image, p: Position):
    return float(colour.models.log_encoding_SLog3(unit(p)))


@program(needs=vnoise)
def vnoise_2d(p: Position):
    return float(vnoise.Noise(7).noise2(0.31 * p.x + 0.1, 0.27 * p.y + 0.2))


@program(needs=vnoise)
def vnoise_octaves(p: Position):
    return float(vnoise.Noise(7).noise2(0.31 * p.x, 0.27 * p.y + 0.2, octaves=3))


@program(needs=colormath)
def colormath_delta_e_1976(rgb: Image, p: Position):
    import numpy as np

    a = np.array([100 * c for c in rgb(p)])
    others = np.array([[50.0, 2.0, -3.0], [20.0, 12.0, 9.0]])
    return tuple(colormath.delta_e_cie1976(a, others))


@program(needs=colormath)
def colormath_delta_e_1994(rgb: Image, p: Position):
    import numpy as np

    a = np.array([100 * c for c in rgb(p)])
    others = np.array([[50.0, 2.0, -3.0], [20.0, 12.0, 9.0]])
    return tuple(colormath.delta_e_cie1994(a, others))


@program(needs=colormath)
def colormath_delta_e_2000(rgb: Image, p: Position):
    import numpy as np

    r, g, b = rgb(p)
    a = np.array([60 * r, 40 * g + 5, 30 * b + 3])
    return tuple(colormath.delta_e_cie2000(a, np.array([[50.0, 20.0, -13.0], [20.0, 12.0, 9.0]])))


# ---------------------------------------------------------------- noise


@program(needs=opensimplex)
def opensimplex_2d(p: Position):
    perm, _ = opensimplex._init(3)
    return opensimplex._noise2(p.x * 0.31, p.y * 0.27, perm)


@program(needs=opensimplex)
def opensimplex_3d(p: Position):
    perm, indices = opensimplex._init(3)
    return opensimplex._noise3(p.x * 0.31, p.y * 0.27, 0.4, perm, indices)


@program(needs=opensimplex)
def opensimplex_4d(p: Position):
    perm, _ = opensimplex._init(3)
    return opensimplex._noise4(p.x * 0.31, p.y * 0.27, 0.4, 1.7, perm)


@program(needs=perlin_noise)
def perlin_noise_tools(im: Image, p: Position):
    v = perlin_noise.fade(abs(im(p)) % 1.0)
    return v + perlin_noise.dot([v, 2.0], [im(p), 3.0]) + perlin_noise.product([v, 2.0, v])


# ---------------------------------------------------------------- easing


@program(needs=pytweening)
def pytweening_polynomials(unit: Image, p: Position):
    t = unit(p)
    return pytweening.easeInQuad(t), pytweening.easeInOutCubic(t), pytweening.easeOutQuart(t)


@program(needs=pytweening)
def pytweening_bounce(unit: Image, p: Position):
    return pytweening.easeOutBounce(unit(p)) + pytweening.easeInBounce(unit(p))


@program(needs=pytweening)
def pytweening_elastic(unit: Image, p: Position):
    return pytweening.easeInElastic(unit(p) * 0.9)


@program(needs=pytweening)
def pytweening_others(unit: Image, p: Position):
    t = unit(p)
    return pytweening.easeInOutExpo(t), pytweening.easeOutCirc(t), pytweening.easeInOutBack(t)


@program(needs=easing_functions)
def easing_functions_cubic(unit: Image, p: Position):
    ease = easing_functions.CubicEaseInOut(start=0, end=3, duration=2)
    return ease.ease(2 * unit(p))


@program(needs=easing_functions)
def easing_functions_bounce(unit: Image, p: Position):
    return easing_functions.BounceEaseInOut()(unit(p))


@program(needs=easing_functions)
def easing_functions_sine_and_circle(unit: Image, p: Position):
    sine = easing_functions.SineEaseInOut(start=1, end=2, duration=1)
    circle = easing_functions.CircularEaseIn(start=0, end=1, duration=1)
    return sine(unit(p)) + circle(0.9 * unit(p))


# ---------------------------------------------------------------- the earth and the sky


@program(needs=haversine)
def haversine_of_two_places(im: Image, p: Position):
    return haversine.haversine((48.0 + im(p), 2.0), (51.0, im(p + (1, 0))))


@program(needs=haversine)
def haversine_in_miles(im: Image, p: Position):
    return haversine.haversine((10.0, 5.0), (20 + im(p), 7.0), unit=haversine.Unit.MILES)


@program(needs=haversine)
def haversine_direction(im: Image, p: Position):
    from haversine import Direction, inverse_haversine

    return inverse_haversine((45.0, im(p)), 32.0, Direction.SOUTHEAST)


@program(needs=utm)
def utm_zone(im: Image, p: Position):
    return utm.latlon_to_zone_number(20 + 10 * im(p), 60 * im(p))


@program(needs=geographiclib)
def geographiclib_angles(im: Image, p: Position):
    Math = geographiclib.Math
    return Math.AngNormalize(300 * im(p)) + Math.AngRound(im(p)) + Math.cbrt(im(p))


@program(needs=geographiclib)
def geographiclib_sines(im: Image, p: Position):
    return geographiclib.Math.sincosd(100 * im(p))


@program(needs=astral, within=1e-3)
def astral_equation_of_time(im: Image, p: Position):
    return astral.eq_of_time(0.2 + 0.01 * im(p))


@program(needs=astral)
def astral_declination(im: Image, p: Position):
    return astral.sun_declination(0.1 * im(p))


@program(needs=astral)
def astral_refraction(im: Image, p: Position):
    from astral.sun import refraction_at_zenith

    return refraction_at_zenith(88 + im(p))


@program(needs=suncalc)
def suncalc_altitude(im: Image, p: Position):
    return float(suncalc.altitude(im(p), 0.8, 0.2)) + float(suncalc.azimuth(0.3 + im(p), 0.8, 0.2))


# ---------------------------------------------------------------- physics and engineering


@program(needs=psychrolib)
def psychrolib_saturation_pressure(im: Image, p: Position):
    psychrolib.SetUnitSystem(psychrolib.SI)
    return psychrolib.GetSatVapPres(20 + 15 * im(p)) / 1000


@program(needs=psychrolib)
def psychrolib_humidity(unit: Image, p: Position):
    psychrolib.SetUnitSystem(psychrolib.SI)
    return 1000 * psychrolib.GetHumRatioFromRelHum(25.0, unit(p), 101325.0)


@program(needs=psychrolib)
def psychrolib_enthalpy(unit: Image, p: Position):
    psychrolib.SetUnitSystem(psychrolib.SI)
    return psychrolib.GetMoistAirEnthalpy(30 * unit(p), 0.01) / 1000


@program(needs=fluids)
def fluids_reynolds_and_friction(unit: Image, p: Position):
    re = fluids.Reynolds(V=2.5 * unit(p) + 0.1, D=0.25, rho=998.1, mu=8.9e-4)
    return fluids.friction.Colebrook.__name__ == "Colebrook", fluids.friction.Haaland(re, 1e-4)


@program(needs=fluids)
def fluids_friction_factor(unit: Image, p: Position):
    return fluids.friction_factor(Re=1e3 + 1e5 * unit(p), eD=1e-4, Method="Clamond")


@program(needs=fluids)
def fluids_drag_of_a_sphere(unit: Image, p: Position):
    return fluids.drag.Stokes(0.1 + unit(p)), fluids.drag.Barati(200 * unit(p) + 1)


@program(needs=fluids)
def fluids_atmosphere(unit: Image, p: Position):
    return fluids.atmosphere.ATMOSPHERE_1976(5000 * unit(p)).T


@program(needs=fluids)
def fluids_mixing(unit: Image, p: Position):
    return fluids.K_from_f(fd=0.018, L=100.0 * unit(p), D=0.3) + fluids.Froude(1.83, L=2 * unit(p))


@program(needs=chemicals)
def chemicals_vapour(unit: Image, p: Position):
    return chemicals.Antoine(100.0 + 90 * unit(p), 8.7687, 395.744, -6.469) / 1e5


@program(needs=chemicals)
def chemicals_viscosity(unit: Image, p: Position):
    return 1e4 * chemicals.viscosity.mu_IAPWS(298.15 + 50 * unit(p), 998.0)


# ---------------------------------------------------------------- rotations


@program(needs=transforms3d)
def transforms3d_axis_angle(im: Image, p: Position):
    m = transforms3d.axangles.axangle2mat((1, 2, 2), im(p))
    return tuple(m @ (im(p), 1.0, 2.0))


@program(needs=transforms3d)
def transforms3d_euler(im: Image, p: Position):
    m = transforms3d.euler.euler2mat(im(p), 0.3, -0.2, "sxyz")
    return m[0, 0] + m[1, 2], m[2, 1]


@program(needs=transforms3d)
def transforms3d_quaternions(im: Image, p: Position):
    q = transforms3d.quaternions.axangle2quat([0, 1.0, 1.0], im(p))
    return tuple(transforms3d.quaternions.qmult(q, [0.5, 0.5, 0.5, 0.5]))


@program(needs=transforms3d)
def transforms3d_turned_vector(im: Image, p: Position):
    q = transforms3d.quaternions.axangle2quat([0, 1.0, 1.0], im(p))
    return tuple(transforms3d.quaternions.rotate_vector([1.0, im(p), 2.0], q))


# ---------------------------------------------------------------- the standard library


@program
def statistics_of_a_window(im: Image, p: Position):
    import statistics

    window = [im(p + (i, j)) for i in (-1, 0, 1) for j in (-1, 0, 1)]
    return statistics.median(window)


@program
def bisect_in_thresholds(im: Image, p: Position):
    import bisect

    return bisect.bisect_right([-1.5, -0.5, 0.25, 1.0], im(p))


@program
def heapq_of_a_window(im: Image, p: Position):
    return math.dist((im(p), im(p + (1, 0))), (1.0, 2.0)) + math.hypot(im(p), 3.0, 4.0)


# ---------------------------------------------------------------- earth, weather, money


@program(needs=pymap3d)
def pymap3d_from_the_centre(unit: Image, p: Position):
    wgs84 = pymap3d.Ellipsoid.from_name("wgs84")
    x, y, z = pymap3d.geodetic2ecef(unit(p) * 60, 10.0 + unit(p), 100.0, ell=wgs84)
    return x / 6.4e6, y / 6.4e6, z / 6.4e6


@program(needs=pymap3d)
def pymap3d_east_north_up(unit: Image, p: Position):
    return pymap3d.aer2enu(unit(p) * 300, 30.0, 10.0)


@program(needs=numpy_financial)
def numpy_financial_payment(unit: Image, p: Position):
    return numpy_financial.pmt(unit(p) * 0.1 + 0.01, 12, 10.0)


@program(needs=coloraide)
def coloraide_oklch(rgb: Image, p: Position):
    lightness, chroma, _ = coloraide.Color("srgb", list(rgb(p))).convert("oklch").coords()
    return lightness, chroma


@program(needs=colorzero)
def colorzero_yuv_and_lab(rgb: Image, p: Position):
    r, g, b = rgb(p)
    return *colorzero.rgb_to_yuv(r, g, b), *colorzero.xyz_to_lab(*colorzero.rgb_to_xyz(r, g, b))


@program(needs=meteocalc)
def meteocalc_heat_and_dew(unit: Image, p: Position):
    air, humidity = meteocalc.Temp(unit(p) * 40, "c"), unit(p + (1, 0)) * 99 + 1
    return meteocalc.heat_index(air, humidity).c, meteocalc.dew_point(air, humidity).c


@program(needs=iapws)
def iapws_of_water(unit: Image, p: Position):
    t = 300.0 + unit(p) * 50
    return iapws._iapws._Viscosity(900.0 + unit(p), t) * 1e3, iapws.iapws97._PSat_T(t)


@program(needs=pysolar, within=1e-3)
def pysolar_times(unit: Image, p: Position):
    return pysolar.equation_of_time(unit(p) * 300), pysolar.get_declination(unit(p) * 300)


# ---------------------------------------------------------------- matrices, paths


@program(needs=pyrr)
def pyrr_matrices(p: Position):
    m = pyrr.matrix44.create_perspective_projection_matrix(60.0 + p.x, 1.5, 0.1, 10.0)
    v = pyrr.matrix44.create_look_at(
        np.array([1.0, 2.0, 3.0 + p.y]), np.array([0.0, 0, 0]), np.array([0.0, 1, 0])
    )
    r = pyrr.matrix44.apply_to_vector(v, np.array([0.5, 0.2, 0.1]))
    return m[0, 0], r[0], r[2]


@program(needs=pyrr)
def pyrr_quaternions(p: Position):
    a = pyrr.quaternion.create_from_axis_rotation(np.array([0.0, 0.0, 1.0]), 0.3 + 0.1 * p.x)
    b = pyrr.quaternion.create_from_x_rotation(0.2 * p.y)
    c = pyrr.quaternion.cross(a, b)
    v = pyrr.quaternion.apply_to_vector(c, np.array([1.0, 2.0, 3.0]))
    s = pyrr.quaternion.slerp(a, b, 0.3)
    return v[0], v[2], s[3]


@program(needs=pyrr)
def pyrr_rays(p: Position):
    r = pyrr.ray.create(np.array([0.1 * p.x, 0.2, -3.0]), np.array([0.0, 0.1 * p.y, 1.0]))
    pl = pyrr.plane.create(np.array([0.0, 0.0, -1.0]), 0.5)
    hit = pyrr.geometric_tests.ray_intersect_plane(r, pl)
    return hit[2] if hit is not None else -1.0


@program(needs=svg_path)
def svg_cubic(p: Position):
    c = svg_path.CubicBezier(0j, 1 + 2j, 3 - 1j, 4 + 1j)
    z = c.point(p.x / 4 + p.y / 20)
    return z


@program(needs=svg_path)
def svg_parsed(p: Position):
    path = svg_path.parse_path("M 0 0 L 2 1 C 3 2 4 0 5 1 Q 6 2 7 0 A 2 1 30 0 1 9 1")
    z = [s.point(p.x / 5 + 0.1) for s in path[1:]]
    return min(abs(complex(p.x, p.y) - w) for w in z), abs(z[-1])
