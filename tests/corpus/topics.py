"""All topics of the corpus: modules whose `program` has what was registered there."""

from corpus import (
    algorithms,
    colours,
    everyday,
    graphs,
    images,
    libraries,
    noise,
    packages,
    puzzles,
    sciences,
    shapes,
    signals,
    strangers,
    styles,
    visitors,
)

TOPICS = (
    *(algorithms, colours, everyday, graphs, images, libraries, noise, packages),
    *(puzzles, sciences, shapes, signals, strangers, styles, visitors),
)
