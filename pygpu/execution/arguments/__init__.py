"""From a call's arguments to images and uniforms, and from results to what went in."""
