// fake_names.h — getaddrinfo as the tests of look-ups want it: it takes as long as they say, and a name is the list of its addresses.
#ifndef RUNLOOP_TEST_FAKE_NAMES_H
#define RUNLOOP_TEST_FAKE_NAMES_H

#include <netdb.h>

#include "connects.h"

#ifndef ALLOCATE
#define ALLOCATE(size) calloc(1, size)
#endif

/// Look-ups that have begun, are under way, and were at most; results that nobody has freed yet.
static _Atomic int lookups_begun, lookups_now, lookups_most, results;
/// That was asked for last.
static _Atomic int last_family;
/// Whether look-ups return.
static _Atomic bool names_answer = true;

static inline void append_address(struct addrinfo **end, const char *text) {
    struct addrinfo *entry = ALLOCATE(sizeof *entry + sizeof(struct sockaddr_in6));
    struct sockaddr_in *ip4 = (void *)(entry + 1);
    struct sockaddr_in6 *ip6 = (void *)(entry + 1);
    bool is_ip4 = inet_pton(AF_INET, text, &ip4->sin_addr) == 1;
    if (!is_ip4)
        REQUIRE(inet_pton(AF_INET6, text, &ip6->sin6_addr) == 1);
    entry->ai_family = is_ip4 ? AF_INET : AF_INET6;
    entry->ai_addr = (void *)(entry + 1);
    entry->ai_addr->sa_family = (sa_family_t)entry->ai_family;
    entry->ai_addrlen = is_ip4 ? sizeof *ip4 : sizeof *ip6;
    while (*end)
        end = &(*end)->ai_next;
    *end = entry;
}

/// "127.0.0.1,::1" has these two addresses; "!-2" fails with that code.
int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **out) {
    char text[256];
    EXPECT(service == NULL && hints->ai_socktype == SOCK_STREAM);
    last_family = hints->ai_family;
    lookups_begun++;
    int now = ++lookups_now;
    lookups_most = now > lookups_most ? now : lookups_most;
    while (!names_answer)
        usleep(200);
    lookups_now--;
    if (*host == '!') {
        errno = EMFILE;
        return atoi(host + 1);
    }
    struct addrinfo *list = NULL;
    snprintf(text, sizeof text, "%s", host);
    char *rest = text;
    for (char *address; (address = strsep(&rest, ","));)
        append_address(&list, address);
    *out = list;
    results++;
    return 0;
}

void freeaddrinfo(struct addrinfo *list) {
    results--;
    for (struct addrinfo *next; list; list = next) {
        next = list->ai_next;
        free(list);
    }
}

#endif // RUNLOOP_TEST_FAKE_NAMES_H
