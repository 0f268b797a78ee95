//! Arrays that a thread keeps in registers.

#[cfg(target_arch = "nvptx64")]
pub use core::array::from_fn;

/// An array of `element(i)`, called in order of i.
///
/// On a GPU it is [`core::array::from_fn`]. The host compiles this loop instead, a fifth of the
/// code.
#[cfg(not(target_arch = "nvptx64"))]
#[inline]
pub fn from_fn<T: Copy, const N: usize>(mut element: impl FnMut(usize) -> T) -> [T; N] {
    let mut made = Unfinished { nothing: () };
    let mut i = 0;
    while i < N {
        // SAFETY: the element is written, and elements have no destructors.
        unsafe { made.array[i] = element(i) };
        i += 1;
    }
    // SAFETY: the loop wrote every element.
    unsafe { made.array }
}

#[cfg(not(target_arch = "nvptx64"))]
union Unfinished<T: Copy, const N: usize> {
    nothing: (),
    array: [T; N],
}
