// curl.h — transfers by libcurl's multi interface in a run loop. Copy curl.h and curl.c.
#ifndef GUESTS_CURL_H
#define GUESTS_CURL_H

#include <curl/curl.h>
#include <runloop.h>

struct curl_guest {
    CURLM *multi; ///< To add transfers to. Nothing more has to be called.
    const char *mode;
    runloop_timer *timer;
    /// Called when a transfer has ended. It may remove `easy` from the multi handle, clean it up and add others.
    void (*done)(struct curl_guest *guest, CURL *easy, CURLcode result);
    void *info; ///< The caller's.
};

/// A multi handle whose transfers are served in `mode` of the calling thread's loop. NULL: no memory.
struct curl_guest *curl_guest_create(const char *mode, void (*done)(struct curl_guest *, CURL *, CURLcode), void *info);

/// Cleans it up; its transfers have been removed. Not in `done` or in a callback of libcurl's.
void curl_guest_destroy(struct curl_guest *guest);

#endif // GUESTS_CURL_H
