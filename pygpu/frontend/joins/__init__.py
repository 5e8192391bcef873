"""Where two paths meet: two states become one."""
