// sdl.c — the window in SDL 2. Its loop is the program's: sixty frames a second.
#include <SDL.h>
#include <toolkit.h>

static SDL_Window *window;
static SDL_Renderer *renderer;
static void (*wait_for_frame)(long long nanoseconds);
static void (*repeated)(void);
static void (*called_once)(void);
static Uint64 repeated_at, repeat_every;
static bool is_over, nested_is_over;
static long frames;

void toolkit_open(void) {
    SDL_Init(SDL_INIT_VIDEO);
    window = SDL_CreateWindow("SDL", 0, 0, 200, 120, SDL_WINDOW_SHOWN);
    renderer = SDL_CreateRenderer(window, -1, SDL_RENDERER_SOFTWARE);
}

void toolkit_animate(bool animates) {
    (void)animates;
}

long toolkit_get_frames(void) {
    return frames;
}

/// A game's own timers are what it looks at in each frame.
static void run_timers(void) {
    Uint64 now = SDL_GetTicks64();
    if (repeated && now >= repeated_at) {
        repeated_at += repeat_every;
        repeated();
    }
    if (called_once) {
        void (*call)(void) = called_once;
        called_once = NULL;
        call();
    }
}

static void run_frames(const bool *is_over_now) {
    Uint64 per_second = SDL_GetPerformanceFrequency(), next = SDL_GetPerformanceCounter();
    while (!*is_over_now && !is_over) {
        SDL_Event event;
        while (SDL_PollEvent(&event)) {
            if (event.type == SDL_QUIT)
                is_over = true;
        }
        run_timers();
        SDL_SetRenderDrawColor(renderer, (Uint8)(frames % 60 * 4), 128, 128, 255);
        SDL_RenderClear(renderer);
        SDL_RenderPresent(renderer);
        frames++;
        next += per_second / 60;
        Uint64 now = SDL_GetPerformanceCounter();
        // SDL_Delay, but with our loop.
        wait_for_frame(now < next ? (long long)((next - now) * 1000000000 / per_second) : 0);
        if (now >= next)
            next = now;
    }
}

void toolkit_run(void) {
    run_frames(&is_over);
}

void toolkit_close(void) {
    SDL_PushEvent(&(SDL_Event){.type = SDL_QUIT});
}

void toolkit_run_nested(void) {
    nested_is_over = false;
    run_frames(&nested_is_over);
}

void toolkit_run_dialog(void) {
    toolkit_run_nested();
}

void toolkit_quit_nested(void) {
    nested_is_over = true;
}

void toolkit_repeat(int milliseconds, void (*call)(void)) {
    repeat_every = (Uint64)milliseconds;
    repeated_at = SDL_GetTicks64() + repeat_every;
    repeated = call;
}

void toolkit_call(void (*call)(void)) {
    called_once = call;
}

void toolkit_set_wait(void (*wait)(long long nanoseconds)) {
    wait_for_frame = wait;
}
