// documented.h — which errors the headers list for a function, or for the call-outs of a structure.
#ifndef RUNLOOP_DOCUMENTED_H
#define RUNLOOP_DOCUMENTED_H

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const documented_names[] = {
#define NAME(name) [name] = "-" #name
    NAME(E2BIG),        NAME(EACCES),      NAME(EADDRINUSE),   NAME(EADDRNOTAVAIL), NAME(EAFNOSUPPORT),
    NAME(EAGAIN),       NAME(EBADF),       NAME(EBUSY),        NAME(ECHILD),        NAME(ECONNREFUSED),
    NAME(ECONNRESET),   NAME(EFBIG),       NAME(EHOSTUNREACH), NAME(EINTR),         NAME(EINVAL),
    NAME(EIO),          NAME(EISDIR),      NAME(ELOOP),        NAME(EMFILE),        NAME(EMSGSIZE),
    NAME(ENAMETOOLONG), NAME(ENETUNREACH), NAME(ENFILE),       NAME(ENODEV),        NAME(ENOENT),
    NAME(ENOEXEC),      NAME(ENOMEM),      NAME(ENOSPC),       NAME(ENOSYS),        NAME(ENOTCONN),
    NAME(ENOTDIR),      NAME(ENOTSOCK),    NAME(ENOTTY),       NAME(EPERM),         NAME(EPIPE),
    NAME(EPROTO),       NAME(EPROTOTYPE),  NAME(ESHUTDOWN),    NAME(ESRCH),         NAME(ETIMEDOUT),
    NAME(ETOOMANYREFS), NAME(ENOBUFS)
#undef NAME
};
enum { DOCUMENTED_NAMES = sizeof documented_names / sizeof *documented_names, MOST_DOCUMENTED_TEXT = 1 << 20 };

static char documented_headers[MOST_DOCUMENTED_TEXT];

/// Adds the headers of a folder to those that are asked.
static inline void documented_read(const char *folder) {
    DIR *directory = opendir(folder);
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = strstr(entry->d_name, ".h") ? fopen(path, "r") : NULL;
        size_t used = strlen(documented_headers);
        if (file)
            documented_headers[used + fread(documented_headers + used, 1, MOST_DOCUMENTED_TEXT - 1 - used, file)] = 0;
        if (file)
            fclose(file);
    }
    if (directory)
        closedir(directory);
}

static inline void documented_read_all(void) {
    documented_read("Sources/CRunLoopCore/include");
    documented_read("Sources/CRunLoopLinux/include");
    documented_read("Sources/CRunLoopDiagnostics/include");
    documented_read("Interop/Guests/CRunLoopForeign/include");
}

/// The comment above a function's declaration, up to that; NULL if there is no such function.
static inline const char *documented_comment(const char *function, size_t *length) {
    char declared[80];
    snprintf(declared, sizeof declared, "%s(", function);
    const char *at = strstr(documented_headers, "RUNLOOP_EXPORT"), *found = NULL;
    for (; at && !found; at = strstr(at + 1, "RUNLOOP_EXPORT")) {
        const char *name = strstr(at, declared), *end = strchr(at, '(');
        if (name && end == name + strlen(declared) - 1 && (name[-1] == ' ' || name[-1] == '*'))
            found = at;
    }
    const char *begin = found;
    // Up to the comment, over functions that share it, and then its lines. An empty line is the end.
    bool is_in_comment = false;
    while (begin && begin > documented_headers + 1) {
        const char *line = begin - 1;
        while (line > documented_headers && line[-1] != '\n')
            line--;
        bool is_comment = strncmp(line, "///", 3) == 0;
        if (*line == '\n' || (is_in_comment && !is_comment))
            break;
        is_in_comment |= is_comment;
        begin = line;
    }
    *length = found ? (size_t)(found - begin) : 0;
    return begin;
}

/// Does the text have the name of the error as a whole word?
static inline bool documented_names_error(const char *text, int error) {
    const char *name = error < DOCUMENTED_NAMES ? documented_names[error] : NULL;
    for (const char *at = name ? strstr(text, name) : NULL; at; at = strstr(at + 1, name)) {
        char after = at[strlen(name)];
        if (!(after >= 'A' && after <= 'Z') && !(after >= '0' && after <= '9'))
            return true;
    }
    return false;
}

/// Does the comment of the function list the error, itself or by "those of" another?
static inline bool documented_lists(const char *function, int error) {
    size_t length;
    const char *comment = documented_comment(function, &length);
    char text[16384], other[80];
    if (!comment || length == 0 || length >= sizeof text)
        return false;
    memcpy(text, comment, length);
    text[length] = 0;
    const char *errors = strstr(text, "Errors:"), *more = errors ? strstr(errors, "those of runloop_") : NULL;
    if (errors && documented_names_error(errors, error))
        return true;
    if (!more)
        return false;
    size_t name = strspn(more + strlen("those of "), "abcdefghijklmnopqrstuvwxyz_");
    snprintf(other, sizeof other, "%.*s", (int)name, more + strlen("those of "));
    return documented_lists(other, error);
}

/// Do the comments within a type name the error? It begins with these words.
static inline bool documented_in_type(const char *begin, const char *name, int error) {
    char end[128];
    static char text[32768];
    snprintf(end, sizeof end, "\n} %s;", name);
    const char *from = strstr(documented_headers, begin), *to = from ? strstr(from, end) : NULL;
    if (!to || (size_t)(to - from) >= sizeof text)
        return false;
    memcpy(text, from, (size_t)(to - from));
    text[to - from] = 0;
    return documented_names_error(text, error);
}

/// Do the comments within a structure name the error, or those of its kinds, the enumeration NAME_kind?
static inline bool documented_in_structure(const char *structure, int error) {
    char begin[160], kinds[96];
    snprintf(begin, sizeof begin, "typedef struct %s {", structure);
    if (documented_in_type(begin, structure, error))
        return true;
    snprintf(kinds, sizeof kinds, "%s_kind", structure);
    snprintf(begin, sizeof begin, "typedef enum RUNLOOP_CLOSED %s {", kinds);
    return documented_in_type(begin, kinds, error);
}

#endif // RUNLOOP_DOCUMENTED_H
