// sdl.c — every scene of host_scenes.h under SDL's events, a frame at a time, by Interop/Hosts/frames.h.
#include <SDL2/SDL.h>

#include "../../Hosts/frames.h"

#include "items.h"

#define HOST_NESTS 1
static int *counted;

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
        if (counted && event.type == SDL_USEREVENT)
            counted[1]++;
    runloop_serve_frame(2 * MS);
    // In place of drawing.
    if (counted) {
        counted[0]++;
        event.type = SDL_USEREVENT;
        SDL_PushEvent(&event);
    }
    SDL_Delay(limit_ns > MS ? 1 : 0);
}

#include "host_scenes.h"

// Frames, and events that the program pushes itself: host_iterate takes them.
#define HOST_TURNS 2
static void host_begin_turns(int turns[HOST_TURNS]) {
    counted = turns;
}

static void host_end_turns(void) {
    counted = NULL;
}

#include "host_turns.h"
