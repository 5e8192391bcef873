"""Functions of packages of geometry, maps and calendars, and of scikit-image, called as they are."""

import math

import numpy as np

from corpus.suite import Corpus, module
from pygpu import Image, Position

program = Corpus()

ambiance = module("ambiance")
colorspacious = module("colorspacious")
convertdate = module("convertdate")
euclid3 = module("euclid3")
meeus_angles = module("pymeeus.Angle")
meeus_coordinates = module("pymeeus.Coordinates")
meeus_curves = module("pymeeus.Interpolation")
meeus_epochs = module("pymeeus.Epoch")
mercantile = module("mercantile")
pymorton = module("pymorton")
pyquaternion = module("pyquaternion")
skimage_colours = module("skimage.color.colorconv")
skimage_differences = module("skimage.color.delta_e")
skimage_transforms = module("skimage.transform")
skimage_warps = module("skimage.transform._warps")
skimage_swirls = module("skimage.transform._warps", "_swirl_mapping")


# ---------------------------------------------------------------- geometry


@program(needs=euclid3)
def euclid_vectors(im: Image, p: Position):
    v = euclid3.Vector3(1.0 + p.x, 2.0 * im(p), 3.0)
    n = v.normalized()
    return n.x, n.y, v.cross(euclid3.Vector3(0.0, 1.0, 0.5)).magnitude(), v.dot(n)


@program(needs=euclid3)
def euclid_quaternions(im: Image, p: Position):
    q = euclid3.Quaternion.new_rotate_axis(im(p), euclid3.Vector3(0.0, 1.0, 0.0))
    v = q * euclid3.Vector3(1.0, 0.5, 0.2)
    return v.x, v.y, v.z


@program(needs=euclid3)
def euclid_matrices(im: Image, p: Position):
    m = euclid3.Matrix4.new_translate(1.0, 2.0, 3.0) * euclid3.Matrix4.new_rotatex(im(p))
    q = m * euclid3.Point3(p.x * 1.0, 1.0, 2.0)
    return q.x, q.y, q.z


@program(needs=euclid3)
def euclid_ray_meets_sphere(p: Position):
    start = euclid3.Point3(0.4 * p.x, 0.4 * p.y, -5.0)
    ray = euclid3.Ray3(start, euclid3.Vector3(0.0, 0.0, 1.0))
    hit = ray.intersect(euclid3.Sphere(euclid3.Point3(0.0, 0.0, 0.0), 1.0))
    return -1.0 if hit is None else hit.length


@program(needs=pyquaternion)
def pyquaternion_turned_vector(im: Image, p: Position):
    q = pyquaternion.Quaternion(axis=[0.0, 1.0, 0.0], angle=0.5)
    return tuple(q.rotate([im(p), 1.0, 2.0]))


@program(needs=pymorton)
def pymorton_codes(p: Position):
    return pymorton.interleave2(p.x, p.y), pymorton.interleave3(p.x, p.y, 1)


@program(needs=pymorton)
def pymorton_places(p: Position):
    x, y = pymorton.deinterleave2(p.x * 5 + p.y * 7)
    return x * 100 + y


# ---------------------------------------------------------------- maps, skies and calendars


@program(needs=mercantile)
def mercantile_projection(p: Position):
    x, y = mercantile.xy(10.0 * p.x, 12.0 * p.y)
    return x / 1e6, y / 1e6


@program(needs=mercantile)
def mercantile_places(p: Position):
    x, y = mercantile.lnglat(1e5 * p.x, 1e5 * p.y)
    return x, y


@program(needs=mercantile)
def mercantile_tiles(p: Position):
    t = mercantile.tile(20.0 * p.x, 10.0 * p.y, 5)
    return t.x, t.y, t.z


@program(needs=mercantile)
def mercantile_bounds(p: Position):
    b = mercantile.bounds(p.x, p.y, 3)
    return b.west, b.south


@program(needs=meeus_angles)
def meeus_sum_of_angles(im: Image, p: Position):
    a = meeus_angles.Angle(40.0 * im(p)) + meeus_angles.Angle(10, 30, 0.0)
    return a.rad(), a.to_positive()()


@program(needs=meeus_coordinates)
def meeus_separation(im: Image, p: Position):
    angle = meeus_angles.Angle
    first = angle(213.9 + im(p)), angle(19.1)
    return meeus_coordinates.angular_separation(*first, angle(201.2), angle(-11.1)).rad()


@program(needs=meeus_coordinates)
def meeus_refraction(im: Image, p: Position):
    height = meeus_angles.Angle(1.0 + abs(im(p)))
    return meeus_coordinates.refraction_apparent2true(height).rad()


@program(needs=meeus_curves)
def meeus_interpolation(im: Image, p: Position):
    curve = meeus_curves.Interpolation([0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 0.5, 0.25])
    return curve(abs(math.sin(im(p))) + 0.5)


@program(needs=meeus_epochs)
def meeus_easter(p: Position):
    month, day = meeus_epochs.Epoch.easter(1990 + 7 * p.x + p.y)
    return month * 100 + day


@program(needs=meeus_epochs)
def meeus_leap_years(p: Position):
    return meeus_epochs.Epoch.is_leap(1896 + p.x * 2 + 100 * p.y)


@program(needs=convertdate)
def convertdate_gregorian(p: Position):
    return convertdate.gregorian.to_jd(2000 + p.x, 1 + p.y, 5) - 2.4e6


@program(needs=convertdate)
def convertdate_islamic(p: Position):
    return convertdate.islamic.to_jd(1440 + p.x, 1 + p.y, 5) - 2.4e6


@program(needs=convertdate)
def convertdate_hebrew(p: Position):
    return convertdate.hebrew.to_jd(5780 + p.x, 1 + p.y, 5) - 2.4e6


@program(needs=ambiance)
def ambiance_temperature(p: Position):
    return ambiance.Atmosphere(1000.0 * p.x).temperature[0]


# ---------------------------------------------------------------- colours


@program(needs=colorspacious)
def colorspacious_lab(rgb: Image, p: Position):
    return tuple(colorspacious.cspace_convert(list(rgb(p)), "sRGB1", "CIELab"))


@program(needs=skimage_colours)
def skimage_gray(rgb: Image, p: Position):
    return skimage_colours.rgb2gray(np.array([list(rgb(p))]))[0]


@program(needs=skimage_colours)
def skimage_hsv(rgb: Image, p: Position):
    return tuple(skimage_colours.rgb2hsv(np.array([[list(rgb(p))]]))[0, 0])


@program(needs=skimage_colours)
def skimage_lab(rgb: Image, p: Position):
    return tuple(skimage_colours.rgb2lab(np.array([[list(rgb(p))]]))[0, 0])


@program(needs=skimage_colours)
def skimage_yuv(rgb: Image, p: Position):
    return tuple(skimage_colours.rgb2yuv(np.array([[list(rgb(p))]]))[0, 0])


@program(needs=skimage_differences)
def skimage_delta_e_1976(rgb: Image, p: Position):
    colours = np.array([list(100 * rgb(p))]), np.array([[50.0, 10.0, 5.0]])
    return float(skimage_differences.deltaE_cie76(*colours)[0])


@program(needs=skimage_differences, within=1e-3)
def skimage_delta_e_2000(rgb: Image, p: Position):
    colours = np.array([list(100 * rgb(p))]), np.array([[50.0, 10.0, 5.0]])
    return skimage_differences.deltaE_ciede2000(*colours)[0]


# ---------------------------------------------------------------- places


def place(p: Position):
    return np.array([[p.x * 1.0, p.y * 1.0]])


@program(needs=skimage_swirls)
def skimage_swirl(p: Position):
    there = skimage_swirls._swirl_mapping(place(p), (1.0, 1.5), 0.1, 2.0, 3.0)
    return there[0, 0], there[0, 1]


@program(needs=skimage_warps)
def skimage_polar(p: Position):
    there = skimage_warps._linear_polar_mapping(place(p), 1.2, 2.0, (1.0, 1.0))
    far = skimage_warps._log_polar_mapping(place(p), 1.2, 2.0, (1.0, 1.0))
    return there[0, 0], there[0, 1], far[0, 0]


@program(needs=skimage_transforms)
def skimage_affine(p: Position):
    turn = skimage_transforms.AffineTransform(scale=(1.2, 0.8), rotation=0.3, translation=(1, 2))
    there = turn(place(p))
    return there[0, 0], there[0, 1]


@program(needs=skimage_transforms)
def skimage_homography(p: Position):
    matrix = np.array([[1, 0.1, 2], [0, 1.2, 1], [0.001, 0.002, 1.0]])
    there = skimage_transforms.ProjectiveTransform(matrix).inverse(place(p))
    return there[0, 0], there[0, 1]


@program(needs=skimage_transforms)
def skimage_polynomial(p: Position):
    factors = np.array([[0.1, 1, 0.2, 0.01, 0.02, 0.03], [0.2, 0.1, 1, 0.01, 0.01, 0.02]])
    there = skimage_transforms.PolynomialTransform(factors)(place(p))
    return there[0, 0], there[0, 1]
