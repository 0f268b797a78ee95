//! What goes wrong between the devices of a group.

use super::words::counted;
use std::time::Duration;

/// An error of a [`DeviceGroup`](crate::DeviceGroup) that is not the failure of one device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    /// A group would have no devices.
    #[error("a group needs at least one device")]
    NoDevices,

    /// A group would have more ranks than it can have.
    #[error("a group of {ranks} ranks: it has at most {most}")]
    TooManyRanks {
        /// The requested number of ranks.
        ranks: usize,
        /// The largest number of ranks of a group.
        most: usize,
    },

    /// One device was named twice.
    #[error("ranks {first} and {second} are the same device; give each rank a device of its own")]
    SameDevice {
        /// The first rank of the device.
        first: usize,
        /// Another rank of the device.
        second: usize,
    },

    /// The group has no rank of this number.
    #[error("there is no rank {rank}: the group has {}, numbered from 0", counted(*.ranks, "rank", "ranks"))]
    NoRank {
        /// The number.
        rank: usize,
        /// The number of ranks of the group.
        ranks: usize,
    },

    /// An operand belongs to another group than the call's.
    #[error(
        "{what} belongs to another group; create all operands with one `DeviceGroup` or its clones"
    )]
    OtherGroup {
        /// The operand.
        what: &'static str,
    },

    /// A rank of another process died, or closed its connection because a call failed there.
    #[error("rank {rank} was lost ({reason}); join a new group in every process")]
    PeerLost {
        /// The rank.
        rank: usize,
        /// What the system said.
        reason: String,
    },

    /// A rank of another process neither answered nor failed within the timeout of the group's options.
    #[error(
        "rank {rank} did not answer within {} s: it hangs, or needs a longer timeout \
         (GroupOptions::with_timeout); join a new group in every process", .after.as_secs_f64()
    )]
    PeerTimeout {
        /// The rank.
        rank: usize,
        /// The timeout.
        after: Duration,
    },

    /// A rank of another process made a different call at the same time, or the same call with other sizes.
    #[error(
        "rank {rank} made another call than this process, or the same call with other sizes ({reason}); all \
         processes of a group must make the same calls in the same order; this group cannot be used any more: \
         drop it, and join a new one in every process"
    )]
    OutOfStep {
        /// The rank.
        rank: usize,
        /// What differs.
        reason: String,
    },

    /// An earlier call of the group failed in this process.
    #[error(
        "an earlier call of this group failed in this process ({cause}); this group cannot be used any more: \
         drop it, and join a new one in every process"
    )]
    Over {
        /// The failure.
        cause: String,
    },

    /// The processes of a group cannot find one another.
    #[error("{reason}")]
    Rendezvous {
        /// What is wrong, and what to do.
        reason: String,
    },

    /// Some ranks did not answer over NCCL within the timeout of the group's options.
    #[error(
        "no answer over NCCL within {} s: a rank was lost or hangs, or needs a longer timeout \
         (GroupOptions::with_timeout); join a new group in every process", .after.as_secs_f64()
    )]
    NcclTimeout {
        /// The timeout.
        after: Duration,
    },

    /// A call of NCCL failed.
    #[error("NCCL error {code}: {message}; join a new group in every process")]
    Nccl {
        /// The number of the `ncclResult_t`.
        code: u32,
        /// NCCL's message for it.
        message: String,
    },

    /// NCCL is not installed on this machine, or cannot be used.
    #[error(
        "NCCL was not found: its library {library} cannot be loaded ({reason}); install it (on Debian and Ubuntu \
         `apt-get install libnccl2`; elsewhere `pip install nvidia-nccl-cu12`, with its folder `nvidia/nccl/lib` \
         in LD_LIBRARY_PATH), or use GroupId::tcp"
    )]
    NoNccl {
        /// The library's file name.
        library: &'static str,
        /// What the system's loader said, or what the library lacks.
        reason: String,
    },

    /// The call does not support the shardings of its matrices.
    #[error("{found}, which this call cannot multiply; {remedy}")]
    Sharding {
        /// The shardings of the matrices.
        found: String,
        /// What to do.
        remedy: &'static str,
    },
}
