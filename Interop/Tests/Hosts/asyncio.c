// asyncio.c — every scene of host_scenes.h under Python's asyncio, by Interop/Hosts/runloop_asyncio.py in an embedded interpreter, whose event loop
// can't run inside its callbacks.
#include <Python.h>

#include "items.h"

#define HOST_NESTS 0
static __thread bool has_begun;

static void run(const char *format, ...) {
    char code[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(code, sizeof code, format, arguments);
    va_end(arguments);
    PyGILState_STATE state = PyGILState_Ensure();
    REQUIRE(PyRun_SimpleString(code) == 0);
    PyGILState_Release(state);
}

/// Each thread that runs scenes has an event loop of its own.
static void begin(void) {
    if (!Py_IsInitialized()) {
        Py_InitializeEx(0);
        PyEval_SaveThread();
        run("import asyncio, ctypes, sys, threading\n"
            "sys.path.insert(0, 'Interop/Hosts')\n"
            "from runloop_asyncio import RunLoopHost\n"
            "class Counted:\n" // the test counts the calls
            "    def __init__(self): self.program = ctypes.PyDLL(None)\n"
            "    def __getattr__(self, name):\n"
            "        return getattr(self.program, '__wrap_' + name if name == 'runloop_hosted_iterate' else name)\n"
            "library, here = Counted(), threading.local()\n"
            "class Host(RunLoopHost):\n"
            "    def _serve(self):\n"
            "        super()._serve()\n"
            "        here.loop.stop()\n"); // after one wait
    }
    if (!has_begun)
        run("here.loop = asyncio.new_event_loop()\n");
    has_begun = true;
}

static void host_attach(const char *mode) {
    begin();
    run("here.host = Host(here.loop, '%s', library)\nassert here.host.result == 0", mode);
}

static void host_detach(void) {
    run("here.host.close()");
}

static void host_iterate(int64_t limit_ns) {
    run("limit = here.loop.call_later(%.9f, here.loop.stop)\n"
        "here.loop.run_forever()\n"
        "limit.cancel()",
        (double)limit_ns / 1e9);
}

#include "host_scenes.h"

// A timer, and a callback that is always ready.
#define HOST_TURNS 2
static void host_begin_turns(int turns[HOST_TURNS]) {
    run("here.turns = (ctypes.c_int * 2).from_address(%ld)\n"
        "def tick():\n"
        "    here.turns[0] += 1\n"
        "    here.timer = here.loop.call_later(0.001, tick)\n"
        "def soon():\n"
        "    here.turns[1] += 1\n"
        "    here.soon = here.loop.call_soon(soon)\n"
        "tick()\n"
        "soon()",
        (long)turns);
}

static void host_end_turns(void) {
    run("here.timer.cancel()\nhere.soon.cancel()");
}

#include "host_turns.h"
