// lifetimes.h — W14: whole lives of short things through a loop. One file per loop.
#ifndef LIFETIMES_H
#define LIFETIMES_H

/// Starts a program with no arguments of its own, waits in the loop for its end, and leaves nothing.
void lifetimes_child(const char *program);
/// Connects to a port of this machine, waits in the loop for the connection, and closes it.
void lifetimes_connect(int port);
/// Waits in the loop for connections of a listening socket, always the same one, and closes them. How many there were.
int lifetimes_accept(int listening);

#endif // LIFETIMES_H
