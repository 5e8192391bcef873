"""A deferred renderer: meshes drawn into images of what is seen, lit by functions of images."""
