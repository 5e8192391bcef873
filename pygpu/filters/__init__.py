"""Filters, blends, colour conversions and samplers, as functions like those that users write.

    filters.sobel(photo)                    # of a whole image, from outside
    filters.sobel(im, p)                    # of a pixel, in a function: im may be any function of p
    filters.rgb2lab(im(p)).x                # of a colour
    compile(filters.convolve, kernel=k)     # parameters may be known, as always

Names and meanings are those of SciPy (`correlate`, `convolve`) and scikit-image (all others that it
has); images outside their border are read as their `boundary` says.
"""

from pygpu.core.host.reference import describe_all
from pygpu.filters.adaptive import equalize_adapthist as equalize_adapthist
from pygpu.filters.adaptive import threshold_local as threshold_local
from pygpu.filters.blending import BLENDS as BLENDS
from pygpu.filters.blending import blend as blend
from pygpu.filters.blending import color_burn as color_burn
from pygpu.filters.blending import color_dodge as color_dodge
from pygpu.filters.blending import darken as darken
from pygpu.filters.blending import difference as difference
from pygpu.filters.blending import exclusion as exclusion
from pygpu.filters.blending import hard_light as hard_light
from pygpu.filters.blending import keep_alpha as keep_alpha
from pygpu.filters.blending import lighten as lighten
from pygpu.filters.blending import multiply as multiply
from pygpu.filters.blending import normal as normal
from pygpu.filters.blending import over as over
from pygpu.filters.blending import overlay as overlay
from pygpu.filters.blending import screen as screen
from pygpu.filters.blending import soft_light as soft_light
from pygpu.filters.colours import gray2rgb as gray2rgb
from pygpu.filters.colours import hed2rgb as hed2rgb
from pygpu.filters.colours import hsv2rgb as hsv2rgb
from pygpu.filters.colours import lab2lch as lab2lch
from pygpu.filters.colours import lab2rgb as lab2rgb
from pygpu.filters.colours import lab2xyz as lab2xyz
from pygpu.filters.colours import lch2lab as lch2lab
from pygpu.filters.colours import linear_to_srgb as linear_to_srgb
from pygpu.filters.colours import luv2rgb as luv2rgb
from pygpu.filters.colours import rgb2gray as rgb2gray
from pygpu.filters.colours import rgb2hed as rgb2hed
from pygpu.filters.colours import rgb2hsv as rgb2hsv
from pygpu.filters.colours import rgb2lab as rgb2lab
from pygpu.filters.colours import rgb2luv as rgb2luv
from pygpu.filters.colours import rgb2xyz as rgb2xyz
from pygpu.filters.colours import rgb2ycbcr as rgb2ycbcr
from pygpu.filters.colours import rgb2yiq as rgb2yiq
from pygpu.filters.colours import rgb2ypbpr as rgb2ypbpr
from pygpu.filters.colours import rgb2yuv as rgb2yuv
from pygpu.filters.colours import srgb_to_linear as srgb_to_linear
from pygpu.filters.colours import xyz2lab as xyz2lab
from pygpu.filters.colours import xyz2rgb as xyz2rgb
from pygpu.filters.colours import ycbcr2rgb as ycbcr2rgb
from pygpu.filters.colours import yiq2rgb as yiq2rgb
from pygpu.filters.colours import ypbpr2rgb as ypbpr2rgb
from pygpu.filters.colours import yuv2rgb as yuv2rgb
from pygpu.filters.denoise import denoise_bilateral as denoise_bilateral
from pygpu.filters.denoise import denoise_nl_means as denoise_nl_means
from pygpu.filters.denoise import denoise_tv_chambolle as denoise_tv_chambolle
from pygpu.filters.denoise import guided as guided
from pygpu.filters.edges import farid as farid
from pygpu.filters.edges import farid_h as farid_h
from pygpu.filters.edges import farid_v as farid_v
from pygpu.filters.edges import laplace as laplace
from pygpu.filters.edges import prewitt as prewitt
from pygpu.filters.edges import prewitt_h as prewitt_h
from pygpu.filters.edges import prewitt_v as prewitt_v
from pygpu.filters.edges import roberts as roberts
from pygpu.filters.edges import roberts_neg_diag as roberts_neg_diag
from pygpu.filters.edges import roberts_pos_diag as roberts_pos_diag
from pygpu.filters.edges import scharr as scharr
from pygpu.filters.edges import scharr_h as scharr_h
from pygpu.filters.edges import scharr_v as scharr_v
from pygpu.filters.edges import sobel as sobel
from pygpu.filters.edges import sobel_h as sobel_h
from pygpu.filters.edges import sobel_v as sobel_v
from pygpu.filters.exposure import equalize_hist as equalize_hist
from pygpu.filters.exposure import match_histograms as match_histograms
from pygpu.filters.exposure import threshold_otsu as threshold_otsu
from pygpu.filters.features import canny as canny
from pygpu.filters.features import corner_harris as corner_harris
from pygpu.filters.features import hog as hog
from pygpu.filters.features import local_binary_pattern as local_binary_pattern
from pygpu.filters.linear import convolve as convolve
from pygpu.filters.linear import correlate as correlate
from pygpu.filters.linear import gaussian as gaussian
from pygpu.filters.morphology import black_tophat as black_tophat
from pygpu.filters.morphology import closing as closing
from pygpu.filters.morphology import dilation as dilation
from pygpu.filters.morphology import distance_transform_edt as distance_transform_edt
from pygpu.filters.morphology import erosion as erosion
from pygpu.filters.morphology import label as label
from pygpu.filters.morphology import opening as opening
from pygpu.filters.morphology import white_tophat as white_tophat
from pygpu.filters.noise import simplex_noise as simplex_noise
from pygpu.filters.noise import value_noise as value_noise
from pygpu.filters.noise import worley_noise as worley_noise
from pygpu.filters.rank import maximum_filter as maximum_filter
from pygpu.filters.rank import median as median
from pygpu.filters.rank import minimum_filter as minimum_filter
from pygpu.filters.rank import percentile_filter as percentile_filter
from pygpu.filters.rank import rank_filter as rank_filter
from pygpu.filters.rank import uniform_filter as uniform_filter
from pygpu.filters.restoration import demosaic as demosaic
from pygpu.filters.restoration import inpaint_biharmonic as inpaint_biharmonic
from pygpu.filters.restoration import richardson_lucy as richardson_lucy
from pygpu.filters.restoration import unsharp_mask as unsharp_mask
from pygpu.filters.sampling import bicubic as bicubic
from pygpu.filters.sampling import bilinear as bilinear
from pygpu.filters.sampling import lanczos as lanczos
from pygpu.filters.sampling import rescale as rescale
from pygpu.filters.sampling import resize as resize
from pygpu.filters.transform import pyramid_expand as pyramid_expand
from pygpu.filters.transform import pyramid_gaussian as pyramid_gaussian
from pygpu.filters.transform import pyramid_laplacian as pyramid_laplacian
from pygpu.filters.transform import pyramid_reduce as pyramid_reduce
from pygpu.filters.transform import rotate as rotate
from pygpu.filters.transform import warp as warp
from pygpu.language.kernels import offsets as offsets

__all__ = """
    BLENDS bicubic bilinear black_tophat blend canny closing color_burn color_dodge convolve
    corner_harris correlate darken demosaic denoise_bilateral denoise_nl_means denoise_tv_chambolle
    difference dilation distance_transform_edt equalize_adapthist equalize_hist erosion exclusion
    farid farid_h farid_v gaussian gray2rgb guided hard_light hed2rgb hog hsv2rgb
    inpaint_biharmonic keep_alpha lab2lch lab2rgb lab2xyz label lanczos laplace lch2lab lighten
    linear_to_srgb local_binary_pattern luv2rgb match_histograms maximum_filter median
    minimum_filter multiply normal offsets opening over overlay percentile_filter prewitt prewitt_h
    prewitt_v pyramid_expand pyramid_gaussian pyramid_laplacian pyramid_reduce rank_filter rescale
    resize rgb2gray rgb2hed rgb2hsv rgb2lab rgb2luv rgb2xyz rgb2ycbcr rgb2yiq rgb2ypbpr rgb2yuv
    richardson_lucy roberts roberts_neg_diag roberts_pos_diag rotate scharr scharr_h scharr_v
    screen simplex_noise sobel sobel_h sobel_v soft_light srgb_to_linear threshold_local
    threshold_otsu uniform_filter unsharp_mask value_noise warp white_tophat worley_noise xyz2lab
    xyz2rgb ycbcr2rgb yiq2rgb ypbpr2rgb yuv2rgb
""".split()

describe_all("pygpu.filters", globals(), __all__)


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
