//! Descriptions of the bytes of an access.

use crate::basics::{Access, AccessKind, AtomicOrder, Space, element_at, parameter_at};
use crate::check::cells::event::Event;
use crate::check::global::LaunchCheck;
use crate::memory::{Allocations, describe};
use crate::state::SharedMemory;

/// A description of the bytes of an access.
pub(in crate::check) struct Place {
    pub space: Space,
    pub bytes: usize,
    order: AtomicOrder,
    pub words: String,
    /// A description of the allocation that the view begins in.
    pub view_allocation: Option<String>,
    /// The nearest allocation, if the bytes are in none.
    pub neighbour: Option<String>,
}

impl Place {
    #[cold]
    pub fn of(access: &Access, shared: &SharedMemory, allocations: &Allocations) -> Self {
        let address = access.address();
        let within = match access.space {
            Space::Shared => shared.describe(address, access.bytes),
            _ => allocations.find(address).map(|allocation| {
                let offset = address - allocation.start;
                let element = element_at(offset, access.bytes);
                format!("{element} of {}", describe(allocation, "a buffer"))
            }),
        };
        let within = within.unwrap_or_else(|| {
            let element = element_at(access.offset, access.bytes);
            format!("{element} of a view of {} bytes", access.view_bytes)
        });
        Self {
            space: access.space,
            bytes: access.bytes,
            order: access.order,
            words: format!(
                "{} bytes of {} memory at {within}",
                access.bytes, access.space
            ),
            view_allocation: allocations
                .find(access.view_base)
                .map(|allocation| describe(allocation, "an allocation")),
            neighbour: (access.space == Space::Global)
                .then(|| neighbour(address, allocations))
                .flatten(),
        }
    }

    /// "; their scopes are the device and the block": that of an atomic access, and that of another one.
    pub fn scopes(&self, other: &Event) -> String {
        format!(
            "; their scopes are {} and {}",
            self.order.scope,
            other.scope()
        )
    }

    /// The same with the name of the kernel's parameter by which the access was made.
    #[cold]
    pub fn of_parameter(mut self, access: &Access, launch: &LaunchCheck) -> Self {
        if access.space == Space::Global
            && let Some(allocation) = launch.allocations.find(access.view_base)
        {
            let name = parameter_at(&launch.conditions.views, allocation.start, access.view_base);
            self.words += &name;
        }
        self
    }

    /// So many bytes of shared memory from an offset on.
    #[cold]
    pub fn of_shared(
        shared: &SharedMemory,
        (offset, bytes): (usize, usize),
        kind: AccessKind,
    ) -> Self {
        let access = Access {
            space: Space::Shared,
            kind,
            view_base: shared.start(),
            view_bytes: offset + bytes,
            offset,
            bytes,
            align: 1,
            order: AtomicOrder::RELAXED,
            value: std::ptr::null(),
        };
        Self::of(&access, shared, &Allocations::default())
    }
}

/// The largest distance, in bytes, of an allocation that counts as near.
const NEAR: usize = 1 << 16;

/// "; the nearest is buffer `x` of 96 bytes, which ends 16 bytes before it", if one is near.
#[cold]
fn neighbour(address: usize, allocations: &Allocations) -> Option<String> {
    let (allocation, distance) = allocations.nearest(address)?;
    let side = match allocation.start > address {
        true => format!("begins {distance} bytes behind"),
        false => format!("ends {distance} bytes before"),
    };
    let buffer = describe(allocation, "a buffer");
    (distance <= NEAR).then(|| format!("; the nearest is {buffer}, which {side} it"))
}
