// Nothing: the functions are those of toolkit.h.
