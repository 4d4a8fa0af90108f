"""Screenshots of any size, and PDFs. Each needs only a Session."""
