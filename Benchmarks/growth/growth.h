// growth.h — one operation on a loop that has N items, many times: what an operation is, and what its kinds share.
#ifndef GROWTH_H
#define GROWTH_H

#include <runloop.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What is measured is `operate` alone; `before` and `after` (may be NULL) are called around each.
struct growth {
    const char *name;
    void (*prepare)(size_t count); ///< makes the N items
    void (*before)(void);
    void (*operate)(void);
    void (*after)(void);
};

/// By kind of item, ended by one without a name.
extern const struct growth growth_of_timers[];
extern const struct growth growth_of_sources[];
extern const struct growth growth_of_descriptors[];
extern const struct growth growth_of_common_items[];
extern const struct growth growth_of_other_modes[];
extern const struct growth growth_of_linux[];
extern const struct growth growth_of_followed_loops[];
extern const struct growth growth_of_the_rest[];

/// A number, and what it is compared with.
struct growth_counted {
    uint64_t count, reference;
};

/// What is counted once, on a loop that gets N items.
struct growth_count {
    const char *name;
    struct growth_counted (*count)(size_t count);
};

/// Ended by one without a name.
extern const struct growth_count growth_counts[];

/// The loop and its default mode, interned.
extern runloop *growth_loop;
extern const char *growth_mode;

/// A random number below `bound`, the same row in each process.
size_t growth_random(size_t bound);

/// Ends the process unless the call went well.
void growth_check(bool good, const char *what);

/// Memory for the items.
void *growth_array(size_t count, size_t size);

/// One iteration that doesn't wait.
void growth_iterate(void);

/// A signalled source that does nothing, in a mode.
runloop_source *growth_source(const char *mode);

#endif
