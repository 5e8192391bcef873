"""Filters, blends, colour conversions and samplers, as functions like those that users write.

    filters.sobel(photo)                    # of a whole image, from outside
    filters.sobel(im, p)                    # of a pixel, in a function: im may be any function of p
    filters.rgb2lab(im(p)).x                # of a colour
    compile(filters.convolve, kernel=k)     # parameters may be known, as always

Names and meanings are those of SciPy (`correlate`, `convolve`) and scikit-image (all others that it
has); images outside their border are read as their `boundary` says.
"""

from pygpu.filters.alpha import keep_alpha, over
from pygpu.filters.blending import (
    BLENDS,
    blend,
    color_burn,
    color_dodge,
    darken,
    difference,
    exclusion,
    hard_light,
    lighten,
    multiply,
    normal,
    overlay,
    screen,
    soft_light,
)
from pygpu.filters.colours import (
    gray2rgb,
    hsv2rgb,
    lab2rgb,
    linear_to_srgb,
    rgb2gray,
    rgb2hsv,
    rgb2lab,
    rgb2xyz,
    srgb_to_linear,
    xyz2rgb,
)
from pygpu.filters.edges import (
    farid,
    farid_h,
    farid_v,
    laplace,
    prewitt,
    prewitt_h,
    prewitt_v,
    roberts,
    roberts_neg_diag,
    roberts_pos_diag,
    scharr,
    scharr_h,
    scharr_v,
    sobel,
    sobel_h,
    sobel_v,
)
from pygpu.filters.exposure import (
    equalize_adapthist,
    equalize_hist,
    match_histograms,
    threshold_local,
    threshold_otsu,
)
from pygpu.filters.linear import convolve, correlate, gaussian
from pygpu.filters.rank import median
from pygpu.filters.sampling import bicubic, bilinear, lanczos, warp
from pygpu.filters.transform import (
    pyramid_expand,
    pyramid_gaussian,
    pyramid_laplacian,
    pyramid_reduce,
    rescale,
    resize,
    rotate,
)
from pygpu.language.kernels import offsets

__all__ = [
    "BLENDS",
    "bicubic",
    "bilinear",
    "blend",
    "color_burn",
    "color_dodge",
    "convolve",
    "correlate",
    "darken",
    "difference",
    "equalize_adapthist",
    "equalize_hist",
    "exclusion",
    "farid",
    "farid_h",
    "farid_v",
    "gaussian",
    "gray2rgb",
    "hard_light",
    "hsv2rgb",
    "keep_alpha",
    "lab2rgb",
    "lanczos",
    "laplace",
    "lighten",
    "linear_to_srgb",
    "match_histograms",
    "median",
    "multiply",
    "normal",
    "offsets",
    "over",
    "overlay",
    "prewitt",
    "prewitt_h",
    "prewitt_v",
    "pyramid_expand",
    "pyramid_gaussian",
    "pyramid_laplacian",
    "pyramid_reduce",
    "rescale",
    "resize",
    "rgb2gray",
    "rgb2hsv",
    "rgb2lab",
    "rgb2xyz",
    "roberts",
    "roberts_neg_diag",
    "roberts_pos_diag",
    "rotate",
    "scharr",
    "scharr_h",
    "scharr_v",
    "screen",
    "sobel",
    "sobel_h",
    "sobel_v",
    "soft_light",
    "srgb_to_linear",
    "threshold_local",
    "threshold_otsu",
    "warp",
    "xyz2rgb",
]
