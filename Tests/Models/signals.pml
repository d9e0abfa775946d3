// signals.pml — signalled sources and the tree of bits. Source: items/signals.c, items/signal_tree.c, run/wait.c.
//
// One source is in the loop, another one is added while two threads signal it and a third thread signals the first:
// each writes something, signals, and wakes the loop. The second source needs another page, so the tree grows: the page
// that was the root gets a parent. Heaps and modes are left out, but what a look before the sleep takes from the tree
// is kept for the next iteration.
//
// Claim: no signal is lost. After each, the source is performed once more, and its call-out sees what the signaller
// wrote before. So the loop always comes to its end, and never sleeps for ever.
//
// Broken variants:
//   LOADS_MARK          a signaller that finds a mark only loads it
//   MARKS_LATE          it sets the bits, then the mark
//   SETS_ROOT_FIRST     it sets the bits from the root down
//   SETS_BY_STORE       it sets bits by a load and a store
//   READS_CELL_EARLY    it looks up the place of the bit, then marks
//   CLEARS_LATE         the loop takes what is below a bit, then clears the bit
//   PERFORMS_MARKED     it performs, then clears the mark
//   CLEARS_BY_STORE     it clears the mark by a plain store
//   ADDS_WITHOUT_LOOK   it adds a source without looking at its mark
//   PLACES_BY_STORE     it adds a source by a plain store, then looks at its mark
//   GROWS_WITHOUT_BIT   a new root has no bit for the former root

#define THREADS 4
#define WORDS 11
#define WAKE_WORD 0
#define PARENT 1  // of the first source's page: does it have one?
#define ROOT 2    // the bits of the parent, one for each source's page
#define CELL 3    // of the second source: does it have a place among the bits?
#define PAGE 3    // plus 1 and 2: a source's page, with a bit
#define MARK 5    // plus 1 and 2: a source's mark
#define WRITTEN 8 // by the signallers, three words

#include "parts/machine.pml"
#include "parts/waking.pml"

bool saw_first, saw_second, saw_third;
#define CAME_TO_ITS_END (saw_first && saw_second && saw_third)

//===-- any thread ---------------------------------------------------------------------------------------------------===//

inline set_bit(page, bits) {
#ifdef SETS_BY_STORE
    found = LOAD(page);
    store(page, found | (bits));
    found = 0
#else
    atomic { LOCKED -> memory[page] = memory[page] | (bits) }
#endif
}

inline set_in_parent(source) {
    if
    :: (source == 2 || LOAD(PARENT)) && !(LOAD(ROOT) & source) -> set_bit(ROOT, source)
    :: else
    fi
}

/// runloop__signal_tree_set
inline tree_set(source) {
#ifdef SETS_ROOT_FIRST
    set_in_parent(source);
    set_bit(PAGE + source, 1)
#else
    set_bit(PAGE + source, 1);
    set_in_parent(source)
#endif
}

/// The second source may not have been added yet.
inline has_cell(source) {
    has_place = (source == 1 || LOAD(CELL))
}

inline set_mark(source) {
#ifdef LOADS_MARK
    if
    :: LOAD(MARK + source)
    :: !LOAD(MARK + source) -> store_locked(MARK + source, 1)
    fi
#else
    store_locked(MARK + source, 1)
#endif
}

/// The sources are 1 and 2, which are also the bits of their pages in the root.
proctype Signaller(byte me; byte source) {
    byte found;
    bool has_place;
    store(WRITTEN + me - 1, true);
#ifdef READS_CELL_EARLY
    has_cell(source);
    set_mark(source);
#else
#ifndef MARKS_LATE
    set_mark(source);
#endif
    has_cell(source);
#endif
    if
    :: has_place -> tree_set(source)
    :: else
    fi;
#ifdef MARKS_LATE
    set_mark(source);
#endif
    wake_up()
}

//===-- the loop's thread --------------------------------------------------------------------------------------------===//

inline grow() {
    store_locked(PARENT, true);
#ifndef GROWS_WITHOUT_BIT
    atomic { LOCKED -> memory[ROOT] = 1 };
#endif
    has_grown = true
}

inline add_second_source() {
    grow();
#ifdef PLACES_BY_STORE
    store(CELL, true);
#else
    store_locked(CELL, true);
#endif
#ifndef ADDS_WITHOUT_LOOK
    if
    :: LOAD(MARK + 2) -> tree_set(2)
    :: else
    fi
#endif
}

inline take_page(source) {
    if
    :: LOAD(PAGE + source) ->
       store_locked(PAGE + source, 0);
       if
       :: LOAD(MARK + source) -> waits = waits | source // without a mark it is passed over
       :: else
       fi
    :: else
    fi
}

inline take_pages() {
    if
    :: bits & 1 -> take_page(1)
    :: else
    fi;
    if
    :: bits & 2 -> take_page(2)
    :: else
    fi
}

/// The bits from the root down.
inline take_tree() {
    if
    :: !has_grown -> take_page(1)
    :: has_grown && LOAD(ROOT) ->
#ifdef CLEARS_LATE
       bits = LOAD(ROOT);
       take_pages();
       store_locked(ROOT, 0);
#else
       exchange(ROOT, 0, bits);
       take_pages();
#endif
       bits = 0
    :: has_grown && !LOAD(ROOT)
    fi
}

inline see(source) {
    if
    :: source == 1 -> saw_first = saw_first || LOAD(WRITTEN)
    :: source == 2 -> saw_second = saw_second || LOAD(WRITTEN + 1); saw_third = saw_third || LOAD(WRITTEN + 2)
    fi
}

inline perform(source) {
#ifdef PERFORMS_MARKED
    see(source);
    store_locked(MARK + source, 0)
#else
#ifdef CLEARS_BY_STORE
    found = LOAD(MARK + source);
    store(MARK + source, 0);
#else
    exchange(MARK + source, 0, found);
#endif
    if
    :: found -> see(source)
    :: else
    fi;
    found = 0
#endif
}

/// Performs the sources that wait.
inline dispatch() {
    take_tree();
    do
    :: waits & 1 -> waits = waits & ~1; perform(1)
    :: waits & 2 -> waits = waits & ~2; perform(2)
    :: waits == 0 -> break
    od
}

proctype Loop(byte me) {
    byte found, outer_word, bits, waits;
    bool has_grown, ignores_wakeups;
    wake_enter(outer_word);
    add_second_source();
    do
    :: wake_ignore();
       dispatch();
       if
       :: CAME_TO_ITS_END -> break
       :: else
       fi;
       wake_announce_sleep();
       take_tree();
       do
       :: (found & WOKEN) || waits -> break
       :: else -> poller_wait(); wake_take_news()
       od;
       wake_finish_wait()
    od
}

init {
    atomic {
        run Processor(0); run Processor(1); run Processor(2); run Processor(3);
        run Loop(0); run Signaller(1, 1); run Signaller(2, 2); run Signaller(3, 2)
    }
}

ltl comes_to_its_end { <> CAME_TO_ITS_END }
