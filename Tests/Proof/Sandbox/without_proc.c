// without_proc.c — starts a program for which /proc is an empty folder: `without_proc PROGRAM ARGUMENTS…`.
#include "cover_proc.h"

int main(int count, char **arguments) {
    if (count < 2) {
        fprintf(stderr, "usage: without_proc PROGRAM ARGUMENTS...\n");
        return 2;
    }
    if (cover_proc() < 0) {
        perror("/proc can't be covered");
        return 126;
    }
    execv(arguments[1], arguments + 1);
    perror(arguments[1]);
    return 127;
}
