"""All topics of the corpus: modules whose `program` has what was registered there."""

from corpus import (
    algorithms,
    colours,
    everyday,
    images,
    libraries,
    noise,
    packages,
    sciences,
    shapes,
    signals,
    strangers,
    styles,
)

TOPICS = (
    *(algorithms, colours, everyday, images, libraries, noise, packages),
    *(sciences, shapes, signals, strangers, styles),
)
