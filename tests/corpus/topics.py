"""All topics of the corpus: modules whose `program` has what was registered there."""

import corpus
from programs.suite import topics_of

TOPICS = topics_of(corpus)
