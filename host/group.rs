//! Several devices that work on one problem.
//!
//! `partition.rs` says which rank has what; `buffer.rs` is a buffer over the devices, and `reduce.rs` its
//! reductions; `matrix.rs` is a matrix over them, and `matmul.rs` its products; `collectives.rs` has calls with
//! a buffer for each rank, and `exchange.rs` what all of them rest on: transfers of borrowed buffers.
//! `transport.rs` is how bytes come from one device to another, as a trait, and `transport/` has its
//! implementations; `id.rs` is how processes find one another, `options.rs` how they treat one another.

mod buffer;
mod collectives;
mod exchange;
mod id;
mod matmul;
mod matrix;
mod options;
mod partition;
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
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use transport::{PeerCopies, Transport};

/// Devices that work on one problem: several CUDA devices of one machine, or as many simulated ones.
///
/// The devices are the group's *ranks*, numbered from 0. What is divided over them is divided by their number
/// and the size of the data alone, so every run has the same parts. A clone is the same group.
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
/// [docs/several_devices.md] says how the work is divided, and what has run on which machines.
///
/// [docs/several_devices.md]: https://github.com/tilewright/tilewright/blob/main/docs/several_devices.md
#[derive(Clone)]
pub struct DeviceGroup {
    members: Arc<Members>,
}

/// The ranks of a group, and those of them that this process has.
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
    /// All devices that the environment variable `TILEWRIGHT_DEVICE` allows: with `cuda` all CUDA devices,
    /// with `cuda:N` that one, with `sim` one simulated device.
    ///
    /// Without the variable these are all CUDA devices where there is a driver with a device, and one
    /// simulated device where there is none.
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
    /// Those of [`Device::from_env`].
    pub fn all() -> Result<Self> {
        let devices = match DeviceChoice::from_env().map_err(crate::Error::into_kind) {
            Err(kind) => Err(kind),
            Ok(Some(DeviceChoice::Cuda(0))) => cuda_devices(),
            Ok(Some(choice)) => one_device(choice),
            Ok(None) => cuda_devices().or_else(|kind| match kind {
                ErrorKind::NoDriver { .. }
                | ErrorKind::NoDevice { .. }
                | ErrorKind::NoCudaFeature => Ok(vec![Device::simulator()]),
                kind => Err(kind),
            }),
        };
        devices.and_then(Self::of_devices).during("all")
    }

    /// The CUDA devices of these numbers, counted from 0: rank 0 is the first of them.
    ///
    /// # Errors
    /// [`GroupError::NoDevices`] and [`GroupError::SameDevice`] in [`ErrorKind::Group`]; those of
    /// [`Device::cuda`].
    pub fn new(ordinals: impl IntoIterator<Item = u32>) -> Result<Self> {
        let devices = ordinals.into_iter().map(Device::cuda);
        let devices = devices.collect::<Result<Vec<_>>>();
        devices
            .map_err(crate::Error::into_kind)
            .and_then(Self::of_devices)
            .during("new")
    }

    /// `ranks` simulated devices, each with its own memory: the same calls with the same bits, without a GPU.
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
    /// [`GroupError::NoDevices`] in [`ErrorKind::Group`] if `ranks` is 0.
    pub fn simulated(ranks: usize) -> Result<Self> {
        let devices = (0..ranks).map(|_| Device::simulator()).collect();
        Self::of_devices(devices).during("simulated")
    }

    /// These devices of one process: rank 0 is the first.
    ///
    /// # Errors
    /// [`GroupError::NoDevices`] and [`GroupError::SameDevice`] in [`ErrorKind::Group`].
    pub fn from_devices(devices: impl IntoIterator<Item = Device>) -> Result<Self> {
        Self::of_devices(devices.into_iter().collect()).during("from_devices")
    }

    /// Joins a group of `ranks` processes as rank `rank`, with one device. All processes join with the same `id`,
    /// which that of rank 0 has made, and with the same number of ranks; the call returns when all have.
    ///
    /// From then on all processes make the same calls of the group, in the same order, with data of the same
    /// sizes. Where a process dies, hangs or fails in one, the calls of the others return an error within the
    /// timeout of `options`, and so do all later calls: the group is over, and a new one can be joined.
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
    /// In [`ErrorKind::Group`]: [`GroupError::NoRank`] if there is no such rank; [`GroupError::PeerTimeout`] or
    /// [`GroupError::PeerLost`] if a rank does not come; [`GroupError::Rendezvous`] if two processes join as one
    /// rank, or with different numbers of ranks, or the system gives no connection. Of [`GroupId::nccl`]
    /// [`GroupError::NcclTimeout`], [`GroupError::Nccl`] and [`GroupError::NoNccl`].
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
        joined().during("join")
    }

    fn of_devices(devices: Vec<Device>) -> Outcome<Self> {
        if devices.is_empty() {
            return Err(GroupError::NoDevices.into());
        }
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

    /// The number of ranks, those of other processes included.
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

    /// The place of a rank among this process's devices, if it has it.
    fn local_of(&self, rank: usize) -> Option<usize> {
        let local = rank.checked_sub(self.members.first)?;
        (local < self.devices().len()).then_some(local)
    }

    /// What `body` returns, whose calls all processes of the group make. Where it fails here, the other
    /// processes learn it at once.
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

/// All CUDA devices, of which there is at least one.
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
