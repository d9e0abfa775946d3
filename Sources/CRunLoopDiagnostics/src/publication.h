// publication.h — the socket at which a process publishes the reports on its loops, and its clients.
#ifndef RUNLOOP_PUBLICATION_H
#define RUNLOOP_PUBLICATION_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PUBLICATION_CLIENTS = 8, PUBLICATION_DESCRIPTORS = PUBLICATION_CLIENTS + 1 };

/// A client that is being answered. The oldest comes first.
struct publication_client {
    int descriptor;
    char *answer; ///< from malloc
    size_t size, sent;
};

struct publication {
    struct publication *next; ///< attendant's lock while withdrawn, then its thread
    char *path;               ///< from the root, as the process may change its directory
    dev_t device;             ///< with `inode`: which file is ours
    ino_t inode;
    int listener;
    char *(*copy_answer)(void);
    // The attendant's thread.
    struct publication_client clients[PUBLICATION_CLIENTS];
    int client_count;
    int64_t rest_until_ns; ///< no descriptor was left for a client: nobody is let in before
};

/// Any thread: a socket that listens at the path. `copy_answer` makes an answer, from malloc, or NULL. 0, or why not.
int publication_make(const char *path, char *(*copy_answer)(void), struct publication **out);
/// Any thread, once: nobody connects to it any more, and its name is gone.
void publication_withdraw(const struct publication *publication);
/// The attendant, or its maker if it was not handed over.
void publication_free(struct publication *publication);
/// The attendant: what to wait for, at most PUBLICATION_DESCRIPTORS, and for how long at most. How many.
int publication_await(const struct publication *publication, struct pollfd *polled, int64_t *pause_ns);
/// The attendant: goes on with what has been awaited. Never blocks.
void publication_serve(struct publication *publication, const struct pollfd *polled, int count);

#endif // RUNLOOP_PUBLICATION_H
