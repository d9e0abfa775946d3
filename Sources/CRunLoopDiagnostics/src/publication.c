// publication.c — a socket that is served without ever waiting for a client.

#ifdef __linux__
#include "publication.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "runloop.h"

//===-- the socket ---------------------------------------------------------------------------------------------------===//

static int open_socket(void) {
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return descriptor >= 0 ? descriptor : errno == ENOBUFS ? -ENOMEM : -errno;
}

/// Whether the process that listens at the connected socket's other end is gone: children that it forked keep its descriptors.
static bool is_orphaned(int probe) {
    struct ucred listener = {.pid = 0};
    socklen_t size = sizeof listener;
    return getsockopt(probe, SOL_SOCKET, SO_PEERCRED, &listener, &size) == 0 && listener.pid > 0 &&
           kill(listener.pid, 0) < 0 && errno == ESRCH;
}

/// Whether a socket is there that nobody serves any more.
static bool is_left_over(const struct sockaddr_un *address) {
    struct stat file;
    if (lstat(address->sun_path, &file) || !S_ISSOCK(file.st_mode) || file.st_uid != geteuid())
        return false;
    int probe = open_socket();
    if (probe < 0)
        return false;
    int result = connect(probe, (const struct sockaddr *)address, sizeof *address);
    bool is_unserved = result ? errno == ECONNREFUSED : is_orphaned(probe);
    close(probe);
    return is_unserved;
}

static int listen_at(int listener, const struct sockaddr_un *address) {
    // A socket's file has the mode that the socket had before.
    if (fchmod(listener, S_IRUSR | S_IWUSR))
        return -errno;
    int result = bind(listener, (const struct sockaddr *)address, sizeof *address);
    if (result && errno == EADDRINUSE) {
        if (!is_left_over(address))
            return -EADDRINUSE;
        unlink(address->sun_path);
        result = bind(listener, (const struct sockaddr *)address, sizeof *address);
    }
    return result || listen(listener, PUBLICATION_CLIENTS) ? -errno : 0;
}

/// The path from the root. NULL: see errno.
static char *absolute_path(const char *path) {
    if (path[0] == '/')
        return strdup(path);
    char *folder = getcwd(NULL, 0), *absolute = NULL;
    if (folder && asprintf(&absolute, "%s/%s", folder, path) < 0)
        absolute = NULL;
    free(folder);
    return absolute;
}

/// Listens, and notes which file the socket is.
static int begin(struct publication *publication, const struct sockaddr_un *address) {
    struct stat file;
    publication->path = absolute_path(address->sun_path);
    if (!publication->path)
        return -errno;
    publication->listener = open_socket();
    if (publication->listener < 0)
        return publication->listener;
    int error = listen_at(publication->listener, address);
    if (!error && lstat(publication->path, &file))
        error = -errno;
    if (error) {
        close(publication->listener);
        return error;
    }
    publication->device = file.st_dev;
    publication->inode = file.st_ino;
    return 0;
}

static void discard(struct publication *publication) {
    free(publication->path);
    free(publication);
}

int publication_make(const char *path, char *(*copy_answer)(void), struct publication **out) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address.sun_path)
        return length == 0 ? -EINVAL : -ENAMETOOLONG;
    memcpy(address.sun_path, path, length + 1);
    struct publication *publication = calloc(1, sizeof *publication);
    if (!publication)
        return -ENOMEM;
    publication->copy_answer = copy_answer;
    int error = begin(publication, &address);
    if (error) {
        discard(publication);
        return error;
    }
    *out = publication;
    return 0;
}

void publication_withdraw(const struct publication *publication) {
    // The end of the listener, even if a forked child has the descriptor, too.
    shutdown(publication->listener, SHUT_RDWR);
    struct stat file;
    const char *path = publication->path;
    if (lstat(path, &file) == 0 && file.st_dev == publication->device && file.st_ino == publication->inode)
        unlink(path);
}

//===-- clients ------------------------------------------------------------------------------------------------------===//

static void drop_client(struct publication *publication, int index) {
    struct publication_client *client = &publication->clients[index];
    // The end of the stream, even if a forked child has the descriptor, too.
    shutdown(client->descriptor, SHUT_RDWR);
    close(client->descriptor);
    free(client->answer);
    publication->client_count--;
    memmove(client, client + 1, (size_t)(publication->client_count - index) * sizeof *client);
}

void publication_free(struct publication *publication) {
    while (publication->client_count > 0)
        drop_client(publication, 0);
    // Each one that is accepted wakes one that waits for a place in the queue, and is refused now. A forked child would keep it waiting.
    for (int descriptor; (descriptor = accept4(publication->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;)
        close(descriptor);
    close(publication->listener);
    discard(publication);
}

/// Sends what the socket takes. True if that was the last of it, or the client is gone.
static bool answer_ends(struct publication_client *client) {
    ssize_t sent = send(client->descriptor, client->answer + client->sent, client->size - client->sent,
                        MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0)
        return errno != EAGAIN && errno != EINTR;
    client->sent += (size_t)sent;
    return client->sent == client->size;
}

static bool is_same_user(int descriptor) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

/// Without a descriptor or memory for a waiting client, the listener would stay ready.
static const int64_t rest_ns = 100000000;

static void accept_client(struct publication *publication) {
    int descriptor = accept4(publication->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0) {
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            publication->rest_until_ns = runloop_get_now_ns(NULL) + rest_ns;
        return;
    }
    char *answer = is_same_user(descriptor) ? publication->copy_answer() : NULL;
    if (!answer) {
        close(descriptor);
        return;
    }
    if (publication->client_count == PUBLICATION_CLIENTS)
        drop_client(publication, 0);
    int index = publication->client_count++;
    publication->clients[index] =
        (struct publication_client){.descriptor = descriptor, .answer = answer, .size = strlen(answer)};
    if (answer_ends(&publication->clients[index]))
        drop_client(publication, index);
}

int publication_await(const struct publication *publication, struct pollfd *polled, int64_t *pause_ns) {
    for (int i = 0; i < publication->client_count; i++)
        polled[i] = (struct pollfd){.fd = publication->clients[i].descriptor, .events = POLLOUT};
    int64_t rest = publication->rest_until_ns ? publication->rest_until_ns - runloop_get_now_ns(NULL) : 0;
    bool rests = rest > 0;
    if (rests && rest < *pause_ns)
        *pause_ns = rest;
    polled[publication->client_count] = (struct pollfd){.fd = rests ? -1 : publication->listener, .events = POLLIN};
    return publication->client_count + 1;
}

void publication_serve(struct publication *publication, const struct pollfd *polled, int count) {
    // From the last to the first, since the later ones move up.
    for (int i = count - 2; i >= 0; i--) {
        if (polled[i].revents && answer_ends(&publication->clients[i]))
            drop_client(publication, i);
    }
    if (polled[count - 1].revents)
        accept_client(publication);
}
#endif // __linux__
