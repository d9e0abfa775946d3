// ours_swift.c — the C core through the Swift overlay: the parts that Swift can't define. The rest is in ours.swift.

#include "../bench.h"

static const char *version(void) {
    return "working tree";
}

const struct peer_traits peer_traits = {
    .name = "ours-swift",
    .version = version,
    .has = PEER_WAKES | PEER_SIGNALS | PEER_SUBMITS | PEER_WATCHES | PEER_TIMERS | PEER_POLLS | PEER_LIMITS |
           PEER_TOLERATES | PEER_REPEATS | PEER_MODES,
};
