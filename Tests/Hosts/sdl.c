// sdl.c — every scene of host_scenes.h under SDL's events, a frame at a time, by Hosts/frames.h.
#include <SDL2/SDL.h>

#include "../../Hosts/frames.h"

#include "items.h"

#define HOST_NESTS 1
static void host_attach(const char *mode) {
    REQUIRE(SDL_Init(SDL_INIT_EVENTS) == 0);
    EXPECT_EQ(runloop_hosted_begin(mode), 0);
}

static void host_detach(void) {
    runloop_hosted_end();
}

static void host_iterate(int64_t limit_ns) {
    SDL_Event event;
    while (SDL_PollEvent(&event))
        continue;
    runloop_serve_frame(2 * MS);
    // In place of drawing.
    SDL_Delay(limit_ns > MS ? 1 : 0);
}

#include "host_scenes.h"
