//! Agents: the engine of bulk copies and the tensor cores, modelled as further threads of the block.
//!
//! An asynchronous operation starts after everything that is ordered before the thread that issues it, and then runs by
//! itself. Its accesses belong to an agent, in the block's asynchronous time, which no barrier of the block orders. A
//! thread that waits for the operation comes after them.

use crate::check::cells::event::Event;
use std::fmt;

/// The bit of a block's number that marks its asynchronous side.
const ASYNCHRONOUS: u32 = 1 << 31;

/// The first agent number: they follow those of threads.
const BARRIERS: u16 = 1024;

/// Bits that no thread's number has; each agent's number has at least one.
pub(in crate::check) const NOT_OF_THREADS: u16 = u16::MAX - (BARRIERS - 1);

const READS: u16 = 1536;
const WRITES: u16 = 2560;
const PRODUCTS: u16 = 3584;

/// A number that no agent has.
pub(in crate::check) const NO_AGENT: u16 = 4095;

/// A part of a block's asynchronous side whose operations complete in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Agent {
    /// The bulk copies that count on the mbarrier of this number.
    Barrier(u16),
    /// The shared memory of the bulk stores of this thread.
    StoreReads(u32),
    /// The global memory of the bulk stores of this thread.
    StoreWrites(u32),
    /// The products of this warp.
    Products(u32),
}

impl Agent {
    /// Its number, which is used like a thread's.
    pub fn number(self) -> u16 {
        match self {
            Self::Barrier(number) => BARRIERS + number % (READS - BARRIERS),
            Self::StoreReads(thread) => READS + thread as u16,
            Self::StoreWrites(thread) => WRITES + thread as u16,
            Self::Products(warp) => PRODUCTS + warp as u16,
        }
    }

    /// The agent of an event of the asynchronous side.
    pub(in crate::check) fn of(event: &Event) -> Option<Self> {
        let number = event.thread();
        event.is_asynchronous().then_some(match number {
            PRODUCTS.. => Self::Products((number - PRODUCTS).into()),
            WRITES.. => Self::StoreWrites((number - WRITES).into()),
            READS.. => Self::StoreReads((number - READS).into()),
            _ => Self::Barrier(number.saturating_sub(BARRIERS)),
        })
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Barrier(_) => formatter.write_str("a bulk copy"),
            Self::StoreReads(_) | Self::StoreWrites(_) => formatter.write_str("a bulk store"),
            Self::Products(warp) => write!(formatter, "a product of warp {warp}"),
        }
    }
}

/// The number of a block's asynchronous side.
pub(in crate::check) const fn asynchronous(block: u32) -> u32 {
    block | ASYNCHRONOUS
}

impl Event {
    /// Whether it is an event of an asynchronous side.
    #[inline]
    pub fn is_asynchronous(&self) -> bool {
        self.block & ASYNCHRONOUS != 0
    }

    /// The number of the block, without the bit of its asynchronous side.
    pub fn of_block(&self) -> u32 {
        self.block & !ASYNCHRONOUS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::cells::event::EventKind;
    use crate::check::cells::site::Site;
    use std::panic::Location;

    #[test]
    fn agents_have_numbers_of_their_own() {
        let agents = [
            Agent::Barrier(0),
            Agent::Barrier(511),
            Agent::StoreReads(0),
            Agent::StoreReads(1023),
            Agent::StoreWrites(0),
            Agent::StoreWrites(1023),
            Agent::Products(0),
            Agent::Products(31),
        ];
        for agent in agents {
            let place = (asynchronous(7), agent.number());
            let site = Site::of(Location::caller());
            let event = Event::new(EventKind::AsyncRead, place, 1, 16, site);
            assert_eq!(Agent::of(&event), Some(agent));
            assert_eq!((event.of_block(), event.is_asynchronous()), (7, true));
        }
    }
}
