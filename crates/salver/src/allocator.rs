//! The global allocator: mimalloc, called in the cheapest way. Its aligned functions, which its crate calls for
//! everything, check each size, and return a larger block than requested if the size is not a power of two and no block
//! of that size is available: this concerns every third allocation of an append, and nearly all above a kilobyte.
//! Blocks allocated without an explicit alignment are aligned well enough for nearly all allocations.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;

use mimalloc::MiMalloc;

/// Guaranteed alignment of a block of at least this size (`MI_MAX_ALIGN_SIZE` of mimalloc's `types.h`: that of C's
/// `max_align_t`).
const ALIGN: usize = 16;

// mimalloc's `mimalloc.h`.
unsafe extern "C" {
    fn mi_malloc(size: usize) -> *mut c_void;
    fn mi_zalloc(size: usize) -> *mut c_void;
    fn mi_realloc(block: *mut c_void, size: usize) -> *mut c_void;
}

/// mimalloc.
pub(crate) struct Allocator;

/// Returns whether a block of `size` bytes is aligned to `align` without requesting it.
#[inline]
fn is_natural(size: usize, align: usize) -> bool {
    align <= ALIGN && align <= size
}

// SAFETY: all blocks are mimalloc's, whose functions take any block of it, however it was asked for; those that are not
// asked for an alignment give blocks that are aligned to `ALIGN`, smaller ones to their size rounded up to a power of
// two, as C has it.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_natural(layout.size(), layout.align()) {
            // SAFETY: it takes any size.
            return unsafe { mi_malloc(layout.size()) }.cast();
        }
        // SAFETY: the caller's promises are those that it asks for.
        unsafe { MiMalloc.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_natural(layout.size(), layout.align()) {
            // SAFETY: it takes any size.
            return unsafe { mi_zalloc(layout.size()) }.cast();
        }
        // SAFETY: the caller's promises are those that it asks for.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are those that it asks for.
        unsafe { MiMalloc.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if is_natural(size, layout.align()) {
            // SAFETY: the block is mimalloc's, as the caller promises, and it takes any size.
            return unsafe { mi_realloc(block.cast(), size) }.cast();
        }
        // SAFETY: the caller's promises are those that it asks for.
        unsafe { MiMalloc.realloc(block, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::{GlobalAlloc, Layout};

    use super::Allocator;

    #[test]
    fn every_block_is_aligned_and_keeps_what_it_holds() {
        let mut held = Vec::new();
        for round in 0..3_usize {
            for size in (1..300).chain([1_000, 1_024, 1_025, 4_097, 65_537, 1 << 20, (1 << 22) + 1]) {
                for shift in 0..8 {
                    let layout = Layout::from_size_align(size, 1 << shift).expect("a layout");
                    // SAFETY: the size is not 0, nothing is read beyond it, and each block is given back once, as it
                    // was asked for or grew.
                    unsafe {
                        let zeroed = Allocator.alloc_zeroed(layout);
                        assert_eq!(zeroed as usize % layout.align(), 0, "{layout:?}");
                        assert!(std::slice::from_raw_parts(zeroed, size).iter().all(|byte| *byte == 0), "{layout:?}");
                        std::ptr::write_bytes(zeroed, 0x5a, size);
                        let other = size / 2 + round * 40 + 1;
                        let grown = Allocator.realloc(zeroed, layout, other);
                        assert_eq!(grown as usize % layout.align(), 0, "{layout:?} to {other}");
                        let kept = std::slice::from_raw_parts(grown, size.min(other));
                        assert!(kept.iter().all(|byte| *byte == 0x5a), "{layout:?} to {other}");
                        let plain = Allocator.alloc(layout);
                        assert_eq!(plain as usize % layout.align(), 0, "{layout:?}");
                        std::ptr::write_bytes(plain, 0xa5, size);
                        held.push((grown, Layout::from_size_align(other, layout.align()).expect("a layout")));
                        Allocator.dealloc(plain, layout);
                    }
                }
            }
            for (block, layout) in held.drain(..) {
                // SAFETY: as above.
                unsafe { Allocator.dealloc(block, layout) };
            }
        }
    }
}
