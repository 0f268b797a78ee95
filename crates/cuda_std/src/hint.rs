//! Hints to the optimiser that change no result.

/// Returns `value`, and hides its origin from the optimiser.
///
/// Computations from the result stay in place: the optimiser does not move them out of a loop,
/// where they would hold registers for its whole length. Use it in a rarely taken branch beside a
/// loop that needs every register.
#[inline(always)]
#[must_use]
pub fn opaque(value: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let mut value = value;
        // SAFETY: the instruction sequence is empty: a comment that names the register.
        unsafe { core::arch::asm!("// {0}", inout(reg32) value, options(nomem, nostack)) };
        value
    }
    #[cfg(not(target_arch = "nvptx64"))]
    value
}

/// [`opaque`] for a size or an index.
#[inline(always)]
#[must_use]
pub fn opaque_size(value: usize) -> usize {
    #[cfg(target_arch = "nvptx64")]
    {
        let mut value = value;
        // SAFETY: as in `opaque`.
        unsafe { core::arch::asm!("// {0}", inout(reg64) value, options(nomem, nostack)) };
        value
    }
    #[cfg(not(target_arch = "nvptx64"))]
    value
}
