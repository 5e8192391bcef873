"""What everything stands on: errors, the table of operations, images' storage, devices."""
