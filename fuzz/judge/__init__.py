"""What is asked of a launch besides its values, and of its values: one question a file."""
