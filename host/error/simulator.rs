//! What goes wrong with a simulator, besides the defects that it finds in kernels.

use super::words;

/// An error of the simulator other than a defect in a kernel, or of a call that only the simulator supports.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulatorError {
    /// A process was forked while a simulated device ran a launch, and its child uses the device.
    #[error(
        "{device} was running a launch when this process forked, and that launch never completes in the \
         child; create a new device in the child, or fork between launches"
    )]
    BusyAtFork {
        /// The device's name.
        device: String,
    },

    /// The host read memory of a simulator that nothing has written.
    #[error(
        "byte {first} of the {} read from memory{} on {device} was never written, neither by the host nor by a \
         kernel; let a kernel write every element, or start from Device::zeros",
        words::bytes(*bytes),
        of_buffer(buffer.as_deref())
    )]
    NeverWritten {
        /// The device's name.
        device: String,
        /// The buffer's name, if it has one ([`Buffer::named`](crate::Buffer::named)).
        buffer: Option<String>,
        /// Bytes that are read.
        bytes: usize,
        /// The first of them that was not written.
        first: usize,
    },

    /// Two streams use the same memory, at least one of them writes it, and neither waits for the other.
    ///
    /// Calls of this library wait by themselves. Work on views of `interop::raw` must be ordered by the caller.
    #[error(
        "{call} {} memory{} that another stream of {device} {}, and does not wait for that stream; record an event \
         after the other call, and make this stream wait for it with Device::wait_for",
        if *is_write { "writes" } else { "reads" },
        of_buffer(buffer.as_deref()),
        if *earlier_is_write { "writes" } else { "reads" }
    )]
    UnorderedStreams {
        /// The device's name.
        device: String,
        /// The later call.
        call: String,
        /// Whether it writes.
        is_write: bool,
        /// Whether the other stream's call writes.
        earlier_is_write: bool,
        /// The buffer's name, if it has one ([`Buffer::named`](crate::Buffer::named)).
        buffer: Option<String>,
    },

    /// Counters were requested, but only the simulator counts.
    #[error(
        "only the simulator counts what a kernel does, and this device is {device}; use Device::simulator(), or \
         Nsight Compute (docs/counters.md)"
    )]
    NoCounters {
        /// The device's name.
        device: String,
    },

    /// A report of all launches was requested, but the simulator was opened without counters.
    #[error(
        "this simulator counts only within Device::with_report; open it with \
         SimulatorOptions::with_counters(true) to have every launch counted"
    )]
    CountersOff,
}

/// The words for a buffer, if it has a name.
fn of_buffer(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!(" of buffer `{name}`"))
}
