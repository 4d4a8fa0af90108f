"""Screenshots of any size, and PDFs. The functions need only a Session."""
