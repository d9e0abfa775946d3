// Nothing is to be called: limits.c does its work before `main`.
