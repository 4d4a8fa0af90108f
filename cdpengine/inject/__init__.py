"""What is put into documents before their own scripts: init scripts, and functions of this program."""
