// retry.c — what has to wait until there are descriptors or memory again: additions to a loop tell nobody that they have failed.

#include "loop/loop.h"

static const int64_t pause_ns = 100000000;

struct retry {
    runloop *loop;    ///< whose timer this is
    const char *mode; ///< from the table of modes
    CFTypeRef object; ///< retained
    cf_retry_callback again;
};

static void fire(runloop_timer *timer, void *info) {
    (void)timer;
    const struct retry *retry = info;
    CFRunLoopRef loop = cf__copy_loop(retry->loop);
    CFStringRef mode = cf__mode_string(retry->mode);
    if (loop && mode)
        retry->again(retry->object, loop, mode);
    CFRelease(loop);
}

static void free_retry(void *info) {
    struct retry *retry = info;
    CFRelease(retry->object);
    free(retry);
}

bool cf__retry_later(runloop *loop, const char *mode, CFTypeRef object, cf_retry_callback again) {
    struct retry *retry = malloc(sizeof *retry);
    if (!retry)
        return false;
    *retry = (struct retry){.loop = loop, .mode = mode, .object = object, .again = again};
    runloop_timer_config config = {.context = {.info = retry, .release = free_retry},
                                   .fire_ns = runloop_get_now_ns(loop) + pause_ns,
                                   .tolerance_ns = pause_ns,
                                   .fire = fire};
    runloop_timer *timer = NULL;
    if (runloop_timer_create(&config, &timer) < 0) {
        free(retry);
        return false;
    }
    CFRetain(object);
    int result = runloop_add_timer(loop, timer, mode);
    runloop_timer_release(timer);
    return result == 0;
}
