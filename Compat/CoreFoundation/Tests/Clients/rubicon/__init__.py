"""Stands before the package of the same name, of which only the event loop is used."""
