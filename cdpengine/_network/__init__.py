"""Network: requests intercepted, answered and slowed down."""
