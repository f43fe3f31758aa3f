"""What known defects put in place of right elements, in torch; imported where outputs are judged."""
