"""Many values as one: tables of known objects, lists whose length only the device knows."""
