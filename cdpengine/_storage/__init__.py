"""What a browser keeps: cookies, local storage, databases, and a state file of them."""
