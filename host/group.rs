//! Several devices that work on one problem.
//!
//! `host/partition.rs` computes what each rank holds. `buffer.rs` is a buffer over the devices, and `reduce.rs` its
//! reductions; `matrix.rs` is a matrix over the devices, and `matmul.rs` its products. `collectives.rs` has the calls
//! with a buffer for each rank. All of them use `exchange.rs`, transfers of borrowed buffers. `transport.rs` is the
//! trait that moves bytes between devices, and `transport/` has its implementations. `id.rs` is how processes find one
//! another, and `options.rs` has their timeout.

mod buffer;
mod collectives;
mod exchange;
mod id;
mod matmul;
mod matrix;
mod options;
mod reduce;
mod transport;

pub use buffer::ShardedBuffer;
pub use id::GroupId;
pub use matmul::ShardedMatmul;
pub use matrix::{ShardedMatrix, Sharding};
pub use options::GroupOptions;

use crate::device::Device;
use crate::environment::DeviceChoice;
use crate::error::{During, ErrorKind, GroupError, Outcome, Result};
use options::check_ranks;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use transport::{PeerCopies, Transport};

/// Devices that work on one problem: CUDA devices or simulated ones, in one process or several.
///
/// The devices are the group's *ranks*, numbered from 0. The number of ranks and the size of the data alone decide
/// what each rank holds, so it is the same in every run. A clone refers to the same group.
///
/// ```
/// use tilewright::DeviceGroup;
///
/// # fn main() -> tilewright::Result<()> {
/// let group = DeviceGroup::simulated(3)?;
/// let x = group.upload(&[1.0_f32, 2.0, 3.5])?;
/// assert_eq!(group.reduce_sum(&x)?, 6.5);
/// # Ok(())
/// # }
/// ```
///
/// [docs/several_devices.md] says how the work is divided, and on which machines it has run.
///
/// [docs/several_devices.md]: https://github.com/tilewright/tilewright/blob/main/docs/several_devices.md
#[derive(Clone)]
pub struct DeviceGroup {
    members: Arc<Members>,
}

/// The ranks of a group, and the ranks of this process.
#[derive(Debug)]
struct Members {
    ranks: usize,
    /// The rank of the first device.
    first: usize,
    /// The devices of this process, in the order of their ranks.
    devices: Vec<Device>,
    transport: Box<dyn Transport>,
}

impl DeviceGroup {
    /// Makes a group of all devices that the environment variable `TILEWRIGHT_DEVICE` allows.
    ///
    /// | value | devices |
    /// |---|---|
    /// | `cuda` | all CUDA devices |
    /// | `cuda:N` or a UUID | that CUDA device |
    /// | `sim` | one simulated device |
    /// | not set | all CUDA devices, or one simulated device if there is no driver or no device |
    ///
    /// ```
    /// use tilewright::DeviceGroup;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let group = DeviceGroup::all()?;
    /// let x = group.upload(&vec![0.5_f32; 4096])?;
    /// println!("{} on {} ranks", group.reduce_sum(&x)?, group.ranks());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::from_env`].
    pub fn all() -> Result<Self> {
        let devices = match DeviceChoice::from_env().map_err(crate::Error::into_kind) {
            Err(kind) => Err(kind),
            Ok(Some(_)) if DeviceChoice::is_any_cuda_in_env() => cuda_devices(),
            Ok(Some(choice)) => one_device(choice),
            Ok(None) => cuda_devices().or_else(|kind| match kind {
                ErrorKind::NoDriver { .. }
                | ErrorKind::NoDevice { .. }
                | ErrorKind::NoCudaFeature => Ok(vec![Device::simulator()]),
                kind => Err(kind),
            }),
        };
        devices
            .and_then(Self::of_devices)
            .during("DeviceGroup::all")
    }

    /// Makes a group of the CUDA devices with these numbers, counted from 0: the first is rank 0.
    ///
    /// # Errors
    /// [`GroupError::NoDevices`] and [`GroupError::SameDevice`] in [`ErrorKind::Group`]; those of [`Device::cuda`].
    pub fn new(ordinals: impl IntoIterator<Item = u32>) -> Result<Self> {
        let devices = ordinals.into_iter().map(Device::cuda);
        let devices = devices.collect::<Result<Vec<_>>>();
        devices
            .map_err(crate::Error::into_kind)
            .and_then(Self::of_devices)
            .during("DeviceGroup::new")
    }

    /// Makes a group of `ranks` simulated devices, each with its own memory.
    ///
    /// All calls of a group work without a GPU, with the same bits.
    ///
    /// ```
    /// use tilewright::DeviceGroup;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let x: Vec<f32> = (0..10_000).map(|i| 1.0 / (1 + i) as f32).collect();
    /// let of_group = |ranks| {
    ///     let group = DeviceGroup::simulated(ranks)?;
    ///     group.reduce_sum(&group.upload(&x)?)
    /// };
    /// assert_eq!(of_group(3)?.to_bits(), of_group(4)?.to_bits());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// In [`ErrorKind::Group`]: [`GroupError::NoDevices`] if `ranks` is 0; [`GroupError::TooManyRanks`] if it is more
    /// than 65,536.
    pub fn simulated(ranks: usize) -> Result<Self> {
        check_ranks(ranks)
            .and_then(|()| Self::of_devices((0..ranks).map(|_| Device::simulator()).collect()))
            .during("DeviceGroup::simulated")
    }

    /// Makes a group of these devices of one process: the first is rank 0.
    ///
    /// # Errors
    /// [`GroupError::NoDevices`], [`GroupError::TooManyRanks`] and [`GroupError::SameDevice`] in [`ErrorKind::Group`].
    pub fn from_devices(devices: impl IntoIterator<Item = Device>) -> Result<Self> {
        Self::of_devices(devices.into_iter().collect()).during("DeviceGroup::from_devices")
    }

    /// Joins a group of `ranks` processes as rank `rank`, with one device.
    ///
    /// All processes join with the same `id` and the same number of ranks. Rank 0 makes a [`GroupId::tcp`]. The
    /// call returns when all have joined. A process whose call failed can join again with the same [`GroupId::tcp`].
    ///
    /// From then on all processes make the same calls of the group, in the same order, with data of the same sizes.
    /// If a process dies, hangs or fails in a call, that call returns an error in the others within the timeout of
    /// `options`, and so do all later calls. A call whose arguments are wrong counts as a failure. The group is then
    /// finished; the processes can join a new one.
    ///
    /// ```
    /// use tilewright::{Device, DeviceGroup, GroupId, GroupOptions};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// // Two threads stand for two processes, which would get `id.to_string()`.
    /// let id = GroupId::tcp("127.0.0.1:0")?;
    /// let sum = |rank: usize| {
    ///     let device = Device::simulator();
    ///     let group = DeviceGroup::join(&id, rank, 2, device, GroupOptions::default())?;
    ///     group.reduce_sum(&group.upload(&vec![0.5_f32; 10_000])?)
    /// };
    /// std::thread::scope(|scope| {
    ///     let other = scope.spawn(|| sum(1));
    ///     assert_eq!(sum(0)?, 5000.0);
    ///     assert_eq!(other.join().unwrap()?, 5000.0);
    ///     Ok(())
    /// })
    /// # }
    /// ```
    ///
    /// # Errors
    /// In [`ErrorKind::Group`]: [`GroupError::NoRank`] if there is no such rank; [`GroupError::TooManyRanks`] for more
    /// than 65,536; [`GroupError::PeerTimeout`] or [`GroupError::PeerLost`] if a rank does not join in time;
    /// [`GroupError::Rendezvous`] if two processes join as one rank, or with different numbers of ranks, or the system
    /// refuses a connection. With [`GroupId::nccl`], [`GroupError::NcclTimeout`], [`GroupError::Nccl`] and
    /// [`GroupError::NoNccl`].
    pub fn join(
        id: &GroupId,
        rank: usize,
        ranks: usize,
        device: Device,
        options: GroupOptions,
    ) -> Result<Self> {
        let joined = || {
            if rank >= ranks {
                return Err(GroupError::NoRank { rank, ranks }.into());
            }
            check_ranks(ranks)?;
            let transport = id.meet(rank, ranks, &device, options)?;
            Ok(Self {
                members: Arc::new(Members {
                    ranks,
                    first: rank,
                    devices: vec![device],
                    transport,
                }),
            })
        };
        joined().during("DeviceGroup::join")
    }

    fn of_devices(devices: Vec<Device>) -> Outcome<Self> {
        check_ranks(devices.len())?;
        for (second, device) in devices.iter().enumerate() {
            if let Some(first) = devices[..second].iter().position(|it| it.is_same(device)) {
                return Err(GroupError::SameDevice { first, second }.into());
            }
        }
        let transport = Box::new(PeerCopies::between(&devices)?);
        Ok(Self {
            members: Arc::new(Members {
                ranks: devices.len(),
                first: 0,
                devices,
                transport,
            }),
        })
    }

    /// The number of ranks, including those of other processes.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.members.ranks
    }

    /// The ranks whose devices this process has.
    #[must_use]
    pub fn local_ranks(&self) -> Range<usize> {
        self.members.first..self.members.first + self.members.devices.len()
    }

    /// The devices of this process, in the order of their ranks.
    #[must_use]
    pub fn devices(&self) -> &[Device] {
        &self.members.devices
    }

    /// Whether `other` is this group or a clone of it.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.members, &other.members)
    }

    /// Waits until all submitted work of this process's devices is complete.
    ///
    /// # Errors
    /// [`ErrorKind::DeviceLost`] or [`ErrorKind::Cuda`] if some of it failed.
    pub fn synchronize(&self) -> Result<()> {
        self.devices().iter().try_for_each(Device::synchronize)
    }

    /// The ranks of this process with their devices.
    fn locals(&self) -> impl Iterator<Item = (usize, &Device)> {
        self.local_ranks().zip(self.devices())
    }

    /// Whether this process has all ranks.
    fn is_whole(&self) -> bool {
        self.devices().len() == self.ranks()
    }

    /// The index of a rank among this process's devices, if it has that rank.
    fn local_of(&self, rank: usize) -> Option<usize> {
        let local = rank.checked_sub(self.members.first)?;
        (local < self.devices().len()).then_some(local)
    }

    /// Runs `body`, a call that all processes of the group make, from its first check on. If it fails here, the other
    /// processes learn of it at once, so that none mistakes this one's next call for the answer to its own.
    fn together<R>(&self, body: impl FnOnce() -> Outcome<R>) -> Outcome<R> {
        body().inspect_err(|cause| self.members.transport.abandon(cause))
    }

    fn check_rank(&self, rank: usize) -> Outcome<()> {
        let ranks = self.ranks();
        match rank < ranks {
            true => Ok(()),
            false => Err(GroupError::NoRank { rank, ranks }.into()),
        }
    }

    fn check_owns(&self, what: &'static str, other: &Self) -> Outcome<()> {
        match self.is_same(other) {
            true => Ok(()),
            false => Err(GroupError::OtherGroup { what }.into()),
        }
    }
}

impl fmt::Debug for DeviceGroup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("DeviceGroup")
            .field("ranks", &self.ranks())
            .field("local_ranks", &self.local_ranks())
            .field("devices", &self.devices())
            .finish()
    }
}

impl From<GroupError> for ErrorKind {
    fn from(error: GroupError) -> Self {
        Self::Group(error)
    }
}

/// All CUDA devices; fails if there is none.
fn cuda_devices() -> Outcome<Vec<Device>> {
    let open = |ordinal| Device::cuda(ordinal).map_err(crate::Error::into_kind);
    let mut devices = vec![open(0)?];
    for ordinal in 1.. {
        match open(ordinal) {
            Ok(device) => devices.push(device),
            Err(ErrorKind::NoDevice { .. }) => break,
            Err(kind) => return Err(kind),
        }
    }
    Ok(devices)
}

fn one_device(choice: DeviceChoice) -> Outcome<Vec<Device>> {
    let device = Device::open(choice).map_err(crate::Error::into_kind)?;
    Ok(vec![device])
}
