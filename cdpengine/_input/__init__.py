"""Input: acting on nodes by mouse, keyboard and touch, and filling in forms."""
