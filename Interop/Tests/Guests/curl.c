// curl.c — transfers from a server on this machine, CURL_TEST_URL, by Interop/Guests/curl.c.
#include "../../Guests/curl.h"

#include <arpa/inet.h>

#include "items.h"

static int received, ended, failed;

static size_t receive(char *bytes, size_t size, size_t count, void *info) {
    (void)bytes, (void)info;
    received += (int)(size * count);
    return size * count;
}

static void done(struct curl_guest *guest, CURL *easy, CURLcode result) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    failed += result != CURLE_OK || status != 200;
    curl_multi_remove_handle(guest->multi, easy);
    curl_easy_cleanup(easy);
    if (++ended == *(int *)guest->info)
        runloop_stop(runloop_current());
}

static void transfer(struct curl_guest *guest, const char *url, long timeout_ms) {
    CURL *easy = curl_easy_init();
    REQUIRE(easy);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms);
    REQUIRE(curl_multi_add_handle(guest->multi, easy) == CURLM_OK);
}

TEST("fifty transfers at once, and again on the same connections") {
    const char *url = getenv("CURL_TEST_URL");
    int all = 50;
    REQUIRE(url);
    struct curl_guest *guest = curl_guest_create(MODE, done, &all);
    REQUIRE(guest);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 50; i++)
            transfer(guest, url, 30000);
        EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
        EXPECT_EQ(ended, all);
        all += 50;
    }
    EXPECT_EQ(failed, 0);
    EXPECT(received >= 100);
    // Connections stay open, and nothing is to be done.
    EXPECT_EQ(run_for(MODE, 10 * MS), RUNLOOP_RESULT_TIMED_OUT);
    curl_guest_destroy(guest);
    EXPECT(runloop_mode_is_empty(runloop_current(), MODE));
}

TEST("a transfer that gets no answer fails after its timeout, never early") {
    int all = 1, silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    REQUIRE(bind(silent, (void *)&address, length) == 0 && listen(silent, 1) == 0 &&
            getsockname(silent, (void *)&address, &length) == 0);
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
    struct curl_guest *guest = curl_guest_create(MODE, done, &all);
    int64_t start_ns = runloop_now_ns();
    transfer(guest, url, 40);
    EXPECT_EQ(run_for(MODE, RUNLOOP_FOREVER), RUNLOOP_RESULT_STOPPED);
    EXPECT(runloop_now_ns() - start_ns >= 39 * MS); // by its own clock, in milliseconds
    EXPECT_EQ(failed, 1);
    curl_guest_destroy(guest);
}
