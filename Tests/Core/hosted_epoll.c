// hosted_epoll.c — hosted runs under a loop that waits by epoll, level-triggered.
#define HOST_EVENTS EPOLLIN
#include "host_epoll.h"
