//! Batches of matrices as a kernel's parameters, for the library's own kernels: all from the first element to
//! the last, gaps included.

use super::view_address;
use crate::element::Element;
use crate::matrix::{MatrixBatch, MatrixBatchMut, MatrixView};
use cuda_std::global::{Global, GlobalMut};
use std::alloc::Layout;

/// What kernels read of `batch`: all from its first element to its last, gaps included.
///
/// # Safety
/// 1. Of the parameter the launch reads the elements of the matrices alone.
pub(crate) unsafe fn read_elements<T: Element>(batch: MatrixBatch<'_, T>) -> Global<'_, T> {
    let address = view_address::<T>(address_of(batch.first()));
    // SAFETY: (1) from the first element to the last all are in one live allocation, and aligned as
    // elements of a buffer are. They stay while the borrow lasts; the launch is submitted within it, and
    // work that frees them comes later in the device's order. (2) What is read are the elements of the
    // matrices, by (1): they are borrowed, so no view that is written, of this launch or of work submitted
    // meanwhile, has one of them. Another view may have elements in the gaps, which are not read.
    // The reads go through the read-only cache (`ld.global.nc`). It asks that a location which is read
    // is not written during the launch, and a location is the bytes that are read: that a neighbour in
    // the same cache line is written brings no stale byte to a reader, and caches are invalidated
    // between launches. `noalias` of LLVM is about accessed locations, too.
    unsafe { Global::from_raw_parts(address, span_of(batch)) }
}

/// What products write of `batch`: all from its first element to its last, gaps included.
///
/// # Safety
/// 1. Of the parameter the launch reads and writes the elements of the matrices alone.
pub(crate) unsafe fn written_by_product<T: Element>(
    batch: MatrixBatchMut<'_, T>,
) -> GlobalMut<'_, T> {
    let batch = batch.into_batch();
    let address = view_address::<T>(address_of(batch.first()));
    // SAFETY: (1) as for `read_elements`. (2) What is touched are the elements of the matrices, by (1):
    // they are borrowed mutably, so no other view, of this launch or of work submitted meanwhile, has one
    // of them. A store writes the bytes of its element and no others, though an operand may lie in the
    // gaps.
    unsafe { GlobalMut::from_raw_parts(address, span_of(batch)) }
}

/// [`read_elements`], as words of their size.
///
/// # Safety
/// 1. Of the parameter the launch reads the elements of the matrices alone.
pub(crate) unsafe fn read_words<T: Element, W: Element>(
    batch: MatrixBatch<'_, T>,
) -> Global<'_, W> {
    assert_words::<T, W>();
    // SAFETY: (1) is (1).
    let elements = unsafe { read_elements(batch) };
    // SAFETY: (1), (2) as for the elements.
    unsafe { Global::from_raw_parts(elements.as_ptr().cast(), elements.len()) }
}

/// [`written_by_product`], as words of their size.
///
/// # Safety
/// 1. Of the parameter the launch reads and writes the elements of the matrices alone.
pub(crate) unsafe fn written_words<T: Element, W: Element>(
    batch: MatrixBatchMut<'_, T>,
) -> GlobalMut<'_, W> {
    assert_words::<T, W>();
    // SAFETY: (1) is (1).
    let elements = unsafe { written_by_product(batch) };
    // SAFETY: (1), (2) as for the elements.
    unsafe { GlobalMut::from_raw_parts(elements.as_mut_ptr().cast(), elements.len()) }
}

fn assert_words<T, W>() {
    let [of_element, of_word] = [Layout::new::<T>(), Layout::new::<W>()];
    assert_eq!(of_element, of_word, "an element is a word");
}

/// Elements from the first of the first matrix to the last of the last, gaps included.
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
