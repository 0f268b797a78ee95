//! The header that each rank sends to every other before an exchange.
//!
//! NCCL compares neither calls nor lengths: a message longer than its receiver expects would overwrite other memory.

use crate::error;
use crate::group::transport::Transfer;
use bytemuck::{Pod, Zeroable};
use std::fmt;

/// The next exchange of one rank with another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Header {
    /// The number of the exchange.
    number: u64,
    /// Bytes of an element; 0 without messages.
    element: u64,
    sent: Messages,
    received: Messages,
}

/// The lengths of messages from one rank to another, in their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
struct Messages {
    bytes: u64,
    /// Depends on each length and on their order.
    digest: u64,
}

impl Messages {
    fn new(lengths: impl Iterator<Item = usize>) -> Self {
        /// The prime of FNV-1a (Fowler, Noll, Vo) for 64 bits.
        const PRIME: u64 = 0x0100_0000_01b3;
        let none = Self {
            bytes: 0,
            digest: 0xcbf2_9ce4_8422_2325,
        };
        lengths.fold(none, |before, length| Self {
            bytes: before.bytes.wrapping_add(length as u64),
            digest: (before.digest ^ length as u64).wrapping_mul(PRIME),
        })
    }
}

impl Header {
    /// Bytes of a header.
    pub const BYTES: usize = size_of::<Self>();

    /// The header that `rank` sends to `peer` before exchange `number`.
    pub fn new(number: u64, transfers: &[Transfer], rank: usize, peer: usize) -> Self {
        let between = |ends| {
            let messages = transfers.iter().filter(move |it| (it.from, it.to) == ends);
            Messages::new(messages.map(|it| it.bytes))
        };
        let ends = [(rank, peer), (peer, rank)];
        let any = transfers.iter().find(|it| ends.contains(&(it.from, it.to)));
        Self {
            number,
            element: any.map_or(0, |it| it.element as u64),
            sent: between((rank, peer)),
            received: between((peer, rank)),
        }
    }

    /// The header that the other rank must send.
    pub fn of_peer(self) -> Self {
        Self {
            number: self.number,
            element: self.element,
            sent: self.received,
            received: self.sent,
        }
    }
}

/// The exchange in words.
impl fmt::Display for Header {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            number,
            element,
            sent,
            received,
        } = self;
        let (sent, received) = (error::bytes(sent.bytes), error::bytes(received.bytes));
        let element = error::bytes(*element);
        write!(
            formatter,
            "exchange {number}, {sent} sent and {received} received, {element} an element"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer((from, to): (usize, usize), bytes: usize) -> Transfer {
        Transfer {
            from,
            to,
            bytes,
            element: 1,
            source: None,
            destination: None,
        }
    }

    #[test]
    fn two_ranks_agree_on_the_same_messages_alone() {
        let transfers = [
            transfer((0, 1), 8),
            transfer((0, 1), 4),
            transfer((1, 0), 16),
            transfer((0, 2), 1),
        ];
        let of_peer = |transfers: &[Transfer]| Header::new(5, transfers, 1, 0).of_peer();
        let own = Header::new(5, &transfers, 0, 1);
        assert_eq!(of_peer(&transfers), own);
        assert_ne!(Header::new(6, &transfers, 1, 0).of_peer(), own);
        // Messages to other ranks are not compared.
        assert_eq!(of_peer(&transfers[..3]), own);
        let mut others = transfers;
        others.swap(0, 1);
        assert_ne!(of_peer(&others), own, "the order");
        (others[0].bytes, others[1].bytes) = (6, 6);
        assert_ne!(of_peer(&others), own, "the parts of as many bytes");
        assert_ne!(of_peer(&transfers[1..]), own, "a message");
        assert_ne!(of_peer(&transfers[..2]), own, "the other direction");
        let wider = transfers.map(|it| Transfer { element: 2, ..it });
        assert_ne!(of_peer(&wider), own, "the size of an element");
    }
}
