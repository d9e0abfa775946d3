// observer.h — observers, and the items that are common to modes. Part of internal.h.
#ifndef RUNLOOP_OBSERVER_H
#define RUNLOOP_OBSERVER_H

//===-- observers (observer.c) ---------------------------------------------------------------------------------------===//

struct runloop_observer {
    struct item item;
    struct item_config config; ///< constant
    void (*observe)(runloop_observer *observer, runloop_activity activity, void *info);
    owner_word owner;
    runloop_activity activities;   ///< constant
    bool repeats;                  ///< constant
    struct common_item *common;    ///< owner: its place in the common set, or NULL
    struct memberships modes;      ///< owner
    struct mode *joined_with_mode; ///< owner: while a mode is being declared common (common.c)
};

/// HOLDS: loop. `insert`: -ENOMEM leaves all as it was. Who extracts releases the mode's reference afterwards, unlocked, then
/// calls `collect`, which frees the lists that were replaced and that nobody walks any more.
int runloop__observer_insert(runloop *loop, runloop_observer *observer, struct mode *mode);
void runloop__observer_extract(runloop *loop, runloop_observer *observer, struct mode *mode);
void runloop__observer_leave_owner(runloop_observer *observer);
void runloop__observers_collect(runloop *loop);
void runloop__observers_free(struct mode *mode);
/// HOLDS: loop, or in a round. NULL where one was removed.
runloop_observer *runloop__observer_at(struct observer_array *array, uint32_t index);
/// Own thread. Tells the mode's observers.
void runloop__observe_round(struct run *run, runloop_activity activity);
void runloop__observer_destroy(runloop_observer *observer);

//===-- common items (common.c) --------------------------------------------------------------------------------------===//

/// An item of a loop's common set, in order of addition. Holds a reference.
struct common_item {
    struct list in_set;
    struct item *item;
};

/// HOLDS: loop. -ENOMEM.
int runloop__common_enter(runloop *loop, struct item *item, struct common_item **place);
/// HOLDS: loop. The caller releases the set's reference afterwards, unlocked.
void runloop__common_leave(struct common_item **place);
/// HOLDS: loop. Where an item keeps its place in the set: NULL if it keeps none.
struct common_item **runloop__common_place(runloop *loop, struct item *item);
/// Without any lock. Before a timer or an observer is added to another loop.
void runloop__common_leave_if_stranded(struct item *item, owner_word *owner, runloop *destination);
/// Without the lock, at teardown: empties the set.
void runloop__common_clear(runloop *loop);
/// HOLDS: loop. The next common mode after `mode` (NULL: the first).
struct mode *runloop__next_common_mode(runloop *loop, struct mode *mode);
/// Without the lock. Adds a source to a mode because both are common: 1, 0 if it is there, has an equal there or is no longer common,
/// or a negative errno (source_modes.c).
int runloop__source_join_common(runloop *loop, runloop_source *source, struct mode *mode);

#endif // RUNLOOP_OBSERVER_H
