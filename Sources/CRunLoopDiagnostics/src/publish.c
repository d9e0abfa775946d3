// publish.c — the process lets itself be looked at.

#ifdef __linux__
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "attendant.h"
#include "publication.h"
#include "published_path.h"
#include "reports.h"

/// The default one of this process.
static int write_path(char *path, size_t size) {
    int error = published_folder(path, size, true);
    if (error)
        return error;
    size_t length = strlen(path);
    int more = snprintf(path + length, size - length, "/" PUBLISHED_PREFIX "%d" PUBLISHED_SUFFIX, (int)getpid());
    return more < 0 || (size_t)more >= size - length ? -ENAMETOOLONG : 0;
}

int runloop_publish(const char *path) {
    int error = attendant_reserve_publication();
    if (error)
        return error;
    char usual[sizeof((struct sockaddr_un *)0)->sun_path];
    if (!path) {
        error = write_path(usual, sizeof usual);
        path = usual;
    }
    struct publication *publication = NULL;
    if (!error)
        error = publication_make(path, reports_copy, &publication);
    // Last, since it stays.
    if (!error && (error = followed_start_reports())) {
        publication_withdraw(publication);
        publication_free(publication);
        publication = NULL;
    }
    attendant_publish(publication);
    return error;
}

void runloop_unpublish(void) {
    attendant_unpublish();
}
#endif // __linux__
