"""Pictures and paper: screenshots of any size, and PDF; each on a Session alone."""
