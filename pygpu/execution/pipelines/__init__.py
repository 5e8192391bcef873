"""Python over images, its calls noted and put together; `execution/pipeline.py` is the door."""
