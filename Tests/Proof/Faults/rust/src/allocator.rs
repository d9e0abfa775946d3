//! Counts what Rust allocates. The driver counts the C libraries' blocks; the closures and the futures that they have are here.
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering::Relaxed};

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;
static BLOCKS: AtomicI64 = AtomicI64::new(0);

// SAFETY: the system's allocator does everything; zeroed and moved blocks come from these two.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BLOCKS.fetch_add(1, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        BLOCKS.fetch_sub(1, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Ends the process if there are more blocks than at the last call, and `serve` does not end that. It is called after each failure, of which
/// the driver has three: the first two make what is made once.
pub fn expect_no_more_blocks(serve: impl Fn()) {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    static LAST: AtomicI64 = AtomicI64::new(0);
    let more = || BLOCKS.load(Relaxed) - LAST.load(Relaxed);
    if CALLS.fetch_add(1, Relaxed) == 2 {
        // A child that nobody waits for is reaped when it has ended.
        for _ in 0..100 {
            if more() > 0 {
                serve();
            }
        }
        if more() > 0 {
            eprintln!("{} blocks of Rust's memory are left", more());
            std::process::abort();
        }
    }
    LAST.store(BLOCKS.load(Relaxed), Relaxed);
}
