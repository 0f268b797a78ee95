//! Batches of matrices as parameters of the library's own kernels: all elements from the first to the last, gaps
//! included.

use super::view_address;
use crate::element::Element;
use crate::matrix::{MatrixBatch, MatrixBatchMut, MatrixView};
use cuda_std::global::{Global, GlobalMut};
use std::alloc::Layout;

/// The elements of `batch` for kernels that read it, from the first to the last, gaps included.
///
/// # Safety
/// 1. Through the parameter, the launch reads the elements of the matrices alone.
pub(crate) unsafe fn read_elements<T: Element>(batch: MatrixBatch<'_, T>) -> Global<'_, T> {
    let address = view_address::<T>(address_of(batch.first()));
    // SAFETY: the elements are live, initialised and aligned: from the first to the last they are in one live
    // allocation, and aligned like elements of a buffer. They stay while the borrow lasts, the launch is submitted
    // within it, and work that frees them is ordered after it. Nothing writes what is read: by the
    // caller's contract only elements of the matrices are read. They are borrowed, so no view that is written, by
    // this launch or by work submitted meanwhile, has one of them. Another view may have elements in the gaps, which
    // are not read. The reads go through the read-only cache (`ld.global.nc`). It requires that a location which is
    // read is not written during the launch. A location is the bytes that are read: a write to a neighbour in the
    // same cache line brings no stale byte to a reader, and caches are invalidated between launches. LLVM's `noalias`
    // is about accessed locations, too.
    unsafe { Global::from_raw_parts(address, span_of(batch)) }
}

/// The elements of `batch` for products that write it, from the first to the last, gaps included.
///
/// # Safety
/// 1. Through the parameter, the launch reads and writes the elements of the matrices alone.
pub(crate) unsafe fn written_by_product<T: Element>(
    batch: MatrixBatchMut<'_, T>,
) -> GlobalMut<'_, T> {
    let batch = batch.into_batch();
    let address = view_address::<T>(address_of(batch.first()));
    // SAFETY: the elements are live, initialised and aligned, as for `read_elements`. Nothing else accesses them: by
    // the caller's contract only elements of the matrices are accessed. They are borrowed mutably, so no other view,
    // of this launch or of work submitted meanwhile, has one of them. A store writes the bytes of its element and no
    // others, so an operand may lie in the gaps.
    unsafe { GlobalMut::from_raw_parts(address, span_of(batch)) }
}

/// [`read_elements`], as words of the elements' size.
///
/// # Safety
/// 1. Through the parameter, the launch reads the elements of the matrices alone.
pub(crate) unsafe fn read_words<T: Element, W: Element>(
    batch: MatrixBatch<'_, T>,
) -> Global<'_, W> {
    assert_words::<T, W>();
    // SAFETY: only elements of the matrices are read: the caller's contract.
    let elements = unsafe { read_elements(batch) };
    // SAFETY: the words are live, initialised and aligned, and nothing writes them, as for the elements.
    unsafe { Global::from_raw_parts(elements.as_ptr().cast(), elements.len()) }
}

/// [`written_by_product`], as words of the elements' size.
///
/// # Safety
/// 1. Through the parameter, the launch reads and writes the elements of the matrices alone.
pub(crate) unsafe fn written_words<T: Element, W: Element>(
    batch: MatrixBatchMut<'_, T>,
) -> GlobalMut<'_, W> {
    assert_words::<T, W>();
    // SAFETY: only elements of the matrices are accessed: the caller's contract.
    let elements = unsafe { written_by_product(batch) };
    // SAFETY: the words are live, initialised and aligned, and nothing else accesses them, as for the elements.
    unsafe { GlobalMut::from_raw_parts(elements.as_mut_ptr().cast(), elements.len()) }
}

fn assert_words<T, W>() {
    let [of_element, of_word] = [Layout::new::<T>(), Layout::new::<W>()];
    assert_eq!(of_element, of_word, "an element is a word");
}

/// The number of elements from the first of the first matrix to the last of the last, gaps included.
fn span_of<T: Element>(batch: MatrixBatch<'_, T>) -> usize {
    let before_last = (batch.count().unwrap_or(1) - 1) * batch.stride();
    match batch.first().lines().span() {
        0 => 0,
        span => span.saturating_add(before_last),
    }
}

/// The address of the first element; 0 if there is none.
pub(crate) fn address_of<T: Element>(view: MatrixView<'_, T>) -> u64 {
    if view.is_empty() {
        0
    } else {
        view.device_address()
    }
}
