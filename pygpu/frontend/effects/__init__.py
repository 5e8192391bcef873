"""What calls and operators do besides giving a value: they raise, they tell somebody."""
