"""Problems to start from and to learn from."""
