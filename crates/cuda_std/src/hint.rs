//! Hints to the optimiser that change no result.

/// `value`, in a way that hides from the optimiser where it came from.
///
/// What is computed from it is computed where it stands: it is not moved out of a loop, where it
/// would hold registers for all of the loop's length. For a branch that is rarely taken beside a
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
