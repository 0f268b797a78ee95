//! The bytes that one lane accesses.

/// The bytes that one lane accesses. The upper 16 bits hold the length: on the platforms that
/// coroutines support, addresses of user space have at most 48 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span(u64);

impl Span {
    /// No bytes: the part of a lane in an instruction that does not access memory.
    pub const NONE: Self = Self(0);
    const ADDRESS_BITS: u32 = 48;

    /// `bytes` bytes, fewer than 2^16, from `address` on.
    pub fn new(address: usize, bytes: usize) -> Self {
        let address = address as u64 & ((1 << Self::ADDRESS_BITS) - 1);
        Self(address | (bytes as u64) << Self::ADDRESS_BITS)
    }

    /// The address of the first byte.
    #[inline]
    pub fn first(self) -> u64 {
        self.0 & ((1 << Self::ADDRESS_BITS) - 1)
    }

    /// The address of the last byte; the span has one.
    #[inline]
    pub fn last(self) -> u64 {
        self.first() + self.bytes() - 1
    }

    /// The number of bytes.
    #[inline]
    pub fn bytes(self) -> u64 {
        self.0 >> Self::ADDRESS_BITS
    }
}
