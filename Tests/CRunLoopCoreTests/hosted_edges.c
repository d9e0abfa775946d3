// hosted_edges.c — hosted runs under a loop that waits by epoll, edge-triggered.
#define HOST_EVENTS (EPOLLIN | EPOLLET)
#include "host_epoll.h"
