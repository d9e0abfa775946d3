// http.c — HTTP/1.1 that says hello: to GET and HEAD, on connections that stay open, to requests that come in pieces or many
// at once. Requests with a body are refused.

#define _GNU_SOURCE // memmem
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "connection.h"

/// A part of the input.
struct text {
    const char *start;
    size_t length;
};

static bool is_equal(struct text text, const char *other) {
    return text.length == strlen(other) && strncasecmp(text.start, other, text.length) == 0;
}

/// The text before `separator`, or all of it if there is none. `rest` becomes what follows.
static struct text cut(struct text *rest, const char *separator) {
    const char *found = memmem(rest->start, rest->length, separator, strlen(separator));
    struct text before = {rest->start, found ? (size_t)(found - rest->start) : rest->length};
    size_t used = before.length + (found ? strlen(separator) : 0);
    *rest = (struct text){rest->start + used, rest->length - used};
    return before;
}

static struct text trimmed(struct text text) {
    while (text.length > 0 && (*text.start == ' ' || *text.start == '\t'))
        text.start++, text.length--;
    while (text.length > 0 && (text.start[text.length - 1] == ' ' || text.start[text.length - 1] == '\t'))
        text.length--;
    return text;
}

struct request {
    bool is_head;
    bool is_last; ///< the client wants the connection closed, or can't keep it open
    int status;   ///< 200, or the error
};

static void read_field(struct text line, struct request *request) {
    struct text value = line, name = cut(&value, ":");
    value = trimmed(value);
    if (is_equal(name, "Connection"))
        request->is_last = is_equal(value, "close") || (request->is_last && !is_equal(value, "keep-alive"));
    else if (is_equal(name, "Transfer-Encoding") || (is_equal(name, "Content-Length") && !is_equal(value, "0")))
        request->status = 501; // its body would be read as the next request
}

static struct request read_request(struct text head) {
    struct text line = cut(&head, "\r\n");
    struct text method = cut(&line, " "), target = cut(&line, " ");
    struct request request = {.is_head = is_equal(method, "HEAD"), .status = 200};
    if (target.length == 0 || (!is_equal(line, "HTTP/1.1") && !is_equal(line, "HTTP/1.0")))
        request.status = 400;
    else if (!request.is_head && !is_equal(method, "GET"))
        request.status = 501;
    request.is_last = is_equal(line, "HTTP/1.0");
    while (head.length > 0)
        read_field(cut(&head, "\r\n"), &request);
    return request;
}

static void respond(struct connection *connection, struct request request) {
    const char *phrase = request.status == 200   ? "OK"
                         : request.status == 400 ? "Bad Request"
                         : request.status == 431 ? "Request Header Fields Too Large"
                                                 : "Not Implemented";
    const char *body = request.status == 200 ? "Hello, world!\n" : "";
    bool is_last = request.is_last || request.status != 200;
    char answer[CONNECTION_ANSWER];
    int length = snprintf(
        answer, sizeof answer, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n%s\r\n%s",
        request.status, phrase, strlen(body), is_last ? "Connection: close\r\n" : "", request.is_head ? "" : body);
    connection_write(connection, answer, (size_t)length);
    if (is_last)
        connection_finish(connection);
}

size_t http_take(struct connection *connection, const char *bytes, size_t count, bool is_full) {
    static const char end[] = "\r\n\r\n";
    // A client may send an empty line after its last request; it belongs to no request.
    if (count >= 2 && memcmp(bytes, end, 2) == 0)
        return 2;
    const char *found = memmem(bytes, count, end, sizeof end - 1);
    if (found) {
        size_t length = (size_t)(found - bytes);
        respond(connection, read_request((struct text){bytes, length}));
        return length + sizeof end - 1;
    }
    if (is_full)
        respond(connection, (struct request){.status = 431});
    return is_full ? count : 0;
}
