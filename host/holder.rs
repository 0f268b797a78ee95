//! The holders of elements that calls read and write.

use crate::device::Device;
use crate::error::Outcome;
use crate::uses::{CALLERS, Uses};

/// The device that holds elements, and the record of their allocation; `None` if they have no bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holder<'a> {
    pub(crate) device: &'a Device,
    pub(crate) uses: Option<&'a Uses>,
}

impl<'a> Holder<'a> {
    /// The holder of `bytes` bytes. Views without bytes, such as the rest of a buffer after its last element, may be
    /// used beside views of the whole allocation, so they use nothing.
    pub(crate) fn of_bytes(self, bytes: usize) -> Self {
        Self {
            uses: self.uses.filter(|_| bytes > 0),
            ..self
        }
    }

    /// The allocation as the result of a call that writes elements of `bytes` bytes.
    pub(crate) fn written(self, bytes: usize) -> Written<'a> {
        Written {
            holder: self.of_bytes(bytes),
            is_whole: self.uses.is_some_and(|uses| uses.bytes() == bytes),
        }
    }

    /// Orders later work of `device` that reads the elements.
    pub(crate) fn order_reads(self, device: &Device) -> Outcome<()> {
        let order = |uses: &Uses| uses.order_reads(device.backend());
        self.uses.map_or(Ok(()), order)
    }
}

/// The holder of elements that are borrowed mutably.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<'a> {
    pub(crate) holder: Holder<'a>,
    /// Whether they are all elements of the allocation.
    is_whole: bool,
}

impl Written<'_> {
    /// The same elements, without claiming that no other call uses the allocation.
    pub(crate) fn as_part(self) -> Self {
        Self {
            is_whole: false,
            ..self
        }
    }

    /// Orders later work of `device` that writes the elements.
    pub(crate) fn order(self, device: &Device) -> Outcome<()> {
        let order = |uses: &Uses| uses.order_writes(device.backend(), self.is_whole);
        self.holder.uses.map_or(Ok(()), order)
    }
}

/// The holder of the caller's memory.
impl<'a> From<&'a Device> for Holder<'a> {
    fn from(device: &'a Device) -> Self {
        let uses = Some(&CALLERS);
        Self { device, uses }
    }
}

impl Device {
    /// Fails unless the operand `what` is on this device. Later work of this device's stream may read it.
    pub(crate) fn check_reads(
        &self,
        what: impl FnOnce() -> String,
        operand: Holder<'_>,
    ) -> Outcome<()> {
        self.check_owns(what, operand.device)?;
        operand.order_reads(self)
    }

    /// Fails unless the result `what` is on this device. Later work of this device's stream may write it.
    pub(crate) fn check_writes(
        &self,
        what: impl FnOnce() -> String,
        result: Written<'_>,
    ) -> Outcome<()> {
        self.check_owns(what, result.holder.device)?;
        result.order(self)
    }
}
