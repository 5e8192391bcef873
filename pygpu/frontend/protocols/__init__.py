"""Python's protocols on every kind of value: operators, attributes, items, iteration."""
