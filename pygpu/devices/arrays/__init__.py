"""Whole arrays on compute: what scans, folds by group and sorts storages, in a few dispatches."""
