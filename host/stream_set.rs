//! Stream numbers of a device, and sets of them.

use crate::error::ErrorKind;

/// The number of streams that a device can have at once.
pub(crate) const MAX_STREAMS: u32 = u64::BITS;

/// The error of a stream beyond [`MAX_STREAMS`].
pub(crate) fn too_many_streams() -> ErrorKind {
    ErrorKind::TooLarge {
        what: format!("stream {} of a device", MAX_STREAMS + 1),
        remedy: "a device has at most 64 streams at once; drop one, or share them",
    }
}

/// One of the streams of a device, by its number below [`MAX_STREAMS`].
///
/// When a stream ends, its work is done, and a later stream may take its number. A new stream starts after all earlier
/// work of the others, so it counts as ordered after everything that its predecessor was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamNumber(pub(crate) u32);

/// A set of streams of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamSet(u64);

impl StreamSet {
    pub(crate) const ALL: Self = Self(u64::MAX);

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn contains(self, StreamNumber(number): StreamNumber) -> bool {
        self.0 >> number & 1 != 0
    }

    pub(crate) fn of_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Bit i for stream i.
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn without(self, stream: StreamNumber) -> Self {
        Self(self.0 & !Self::from(stream).0)
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn numbers(self) -> impl Iterator<Item = StreamNumber> {
        (0..MAX_STREAMS)
            .map(StreamNumber)
            .filter(move |it| self.contains(*it))
    }
}

impl From<StreamNumber> for StreamSet {
    fn from(StreamNumber(number): StreamNumber) -> Self {
        Self(1 << number)
    }
}
