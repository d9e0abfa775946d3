// qt.c — every scene of host_scenes.h under Qt; the host is in qt_host.cc.
#include "items.h"
#include "other_language.h"

#define HOST_NESTS 1
#include "host_scenes.h"

#include "host_turns.h"
