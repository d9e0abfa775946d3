use crate::mode::Mode;
use runloop_sys as sys;
use std::os::raw::{c_char, c_int};

/// What can be added to a loop: [`Timer`](crate::Timer), [`Source`](crate::Source), [`DescriptorSource`](crate::DescriptorSource),
/// [`Observer`](crate::Observer). No other type implements it.
pub trait Item: sealed::Raw {}

pub(crate) mod sealed {
    use super::*;

    type Change<Item> = unsafe extern "C" fn(*mut sys::runloop, *mut Item, *const c_char) -> c_int;
    type Question<Item> = unsafe extern "C" fn(*mut sys::runloop, *mut Item, *const c_char) -> bool;

    /// The C item, and the functions for its kind.
    pub trait Raw {
        type Item;
        const ADD: Change<Self::Item>;
        const REMOVE: Change<Self::Item>;
        const CONTAINS: Question<Self::Item>;
        fn raw(&self) -> *mut Self::Item;
    }
}

pub(crate) fn add<I: Item>(run_loop: *mut sys::runloop, item: &I, mode: Mode) -> c_int {
    // SAFETY: all three are valid during the call. Items and RunLoop don't leave their thread, so it is the thread's own loop.
    unsafe { I::ADD(run_loop, item.raw(), mode.as_ptr()) }
}

pub(crate) fn remove<I: Item>(run_loop: *mut sys::runloop, item: &I, mode: Mode) -> c_int {
    // SAFETY: as above.
    unsafe { I::REMOVE(run_loop, item.raw(), mode.as_ptr()) }
}

pub(crate) fn contains<I: Item>(run_loop: *mut sys::runloop, item: &I, mode: Mode) -> bool {
    // SAFETY: as above.
    unsafe { I::CONTAINS(run_loop, item.raw(), mode.as_ptr()) }
}

/// Declares a kind of item: the C type's name is in those of its functions.
macro_rules! item {
    ([$($generics:tt)*] $type:ty, $raw:ident, $add:ident, $remove:ident, $contains:ident) => {
        impl<$($generics)*> crate::item::Item for $type {}
        impl<$($generics)*> crate::item::sealed::Raw for $type {
            type Item = sys::$raw;
            const ADD: unsafe extern "C" fn(*mut sys::runloop, *mut sys::$raw, *const std::os::raw::c_char) -> i32 = sys::$add;
            const REMOVE: unsafe extern "C" fn(*mut sys::runloop, *mut sys::$raw, *const std::os::raw::c_char) -> i32 = sys::$remove;
            const CONTAINS: unsafe extern "C" fn(*mut sys::runloop, *mut sys::$raw, *const std::os::raw::c_char) -> bool =
                sys::$contains;
            fn raw(&self) -> *mut sys::$raw {
                self.raw.as_ptr()
            }
        }
    };
}

pub(crate) use item;
