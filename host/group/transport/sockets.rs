//! Connections between the processes of a group, one for each pair.
//!
//! In an exchange each process writes one frame to each process that it sends to: the number of the exchange, the
//! number of bytes, the size of an element, the bytes. Each frame has a thread that writes it, so that no process waits
//! for another to read before it reads itself. If a call or a connection fails, this process closes all of its
//! connections, and the others fail as soon as they read or write.

mod rendezvous;
mod stream;

use super::{Transfer, Transport, fault_after};
use crate::device::Device;
use crate::error::{self, ErrorKind, GroupError, Outcome, zeroed_vec};
use crate::group::options::GroupOptions;
use crate::group::transport::deadline::Deadline;
use crate::locks::lock;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;
use stream::{Fault, read, write};

/// Bytes of a frame's header: the number of the exchange, the number of bytes that follow, and the bytes of an element.
const HEADER: usize = 24;

/// The connections of one rank.
#[derive(Debug)]
pub struct Sockets {
    rank: usize,
    /// The connections by rank; `None` for this process's own.
    peers: Vec<Option<TcpStream>>,
    timeout: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the next exchange.
    next: u64,
    /// The fault that ended all exchanges.
    fault: Option<GroupError>,
}

/// The transfers to one rank, or from it.
struct Frame {
    peer: usize,
    number: u64,
    transfers: Vec<Transfer>,
}

impl Frame {
    fn bytes(&self) -> usize {
        self.transfers.iter().map(|it| it.bytes).sum()
    }

    fn header(&self) -> [u8; HEADER] {
        let element = self.transfers.first().map_or(0, |it| it.element);
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&self.number.to_le_bytes());
        header[8..16].copy_from_slice(&(self.bytes() as u64).to_le_bytes());
        header[16..].copy_from_slice(&(element as u64).to_le_bytes());
        header
    }

    /// The frame with host memory for its bytes.
    fn with_memory(self) -> Outcome<(Self, Vec<u8>)> {
        let memory = zeroed_vec(self.bytes())?;
        Ok((self, memory))
    }
}

impl Sockets {
    /// Connects to the other ranks of a group of `ranks`, at the address of rank 0, which has the listener.
    pub fn join(
        at: (SocketAddr, Option<&TcpListener>),
        rank: usize,
        ranks: usize,
        options: GroupOptions,
    ) -> Outcome<Self> {
        Ok(Self {
            rank,
            peers: rendezvous::meet(at, rank, ranks, options.timeout())?,
            timeout: options.timeout(),
            state: Mutex::default(),
        })
    }

    fn stream(&self, peer: usize) -> &TcpStream {
        self.peers[peer].as_ref().expect("a peer is another rank")
    }

    fn close(&self) {
        for stream in self.peers.iter().flatten() {
            // A stream that is already closed stays closed.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// The frames of exchange `number`, one for each of the other ranks that `peer_of` gives for a transfer.
    fn frames(
        &self,
        number: u64,
        transfers: &[Transfer],
        peer_of: impl Fn(&Transfer) -> Option<usize>,
    ) -> Vec<Frame> {
        let with = |peer: usize| Frame {
            peer,
            number,
            transfers: (transfers.iter().copied())
                .filter(|it| peer_of(it) == Some(peer))
                .collect(),
        };
        let others = (0..self.peers.len()).filter(|peer| *peer != self.rank);
        let frames = others.map(with);
        frames.filter(|it| !it.transfers.is_empty()).collect()
    }

    /// Writes `outgoing`, and reads `incoming`.
    fn run(
        &self,
        outgoing: &[(Frame, Vec<u8>)],
        incoming: &mut [(Frame, Vec<u8>)],
    ) -> Result<(), GroupError> {
        let deadline = Deadline::after(self.timeout);
        thread::scope(|scope| {
            let writers: Vec<_> = outgoing
                .iter()
                .map(|(frame, bytes)| {
                    scope.spawn(move || {
                        let stream = self.stream(frame.peer);
                        write(stream, &frame.header(), deadline)
                            .and_then(|()| write(stream, bytes, deadline))
                            .map_err(|fault| self.error(frame.peer, fault))
                    })
                })
                .collect();
            let read = incoming
                .iter_mut()
                .try_for_each(|(frame, bytes)| self.receive(frame, bytes, deadline));
            if read.is_err() {
                // Ends writers that wait for a reader.
                self.close();
            }
            let written: Result<(), _> = writers
                .into_iter()
                .try_for_each(|writer| writer.join().expect("a writer does not panic"));
            read.and(written)
        })
    }

    fn receive(
        &self,
        frame: &Frame,
        bytes: &mut [u8],
        deadline: Deadline,
    ) -> Result<(), GroupError> {
        let stream = self.stream(frame.peer);
        let of_peer = |fault| self.error(frame.peer, fault);
        let mut header = [0; HEADER];
        read(stream, &mut header, deadline).map_err(of_peer)?;
        let expected = frame.header();
        if header != expected {
            return Err(GroupError::OutOfStep {
                rank: frame.peer,
                reason: format!("{} instead of {}", words(header), words(expected)),
            });
        }
        read(stream, bytes, deadline).map_err(of_peer)
    }

    fn error(&self, rank: usize, fault: Fault) -> GroupError {
        fault.of_rank(rank, self.timeout)
    }
}

/// The contents of a header, in words.
fn words(header: [u8; HEADER]) -> String {
    let number = |at: usize| {
        let bytes: [u8; 8] = header[at..at + 8].try_into().expect("eight bytes");
        u64::from_le_bytes(bytes)
    };
    let (bytes, element) = (error::bytes(number(8)), error::bytes(number(16)));
    format!("exchange {} of {bytes}, {element} an element", number(0))
}

impl Transport for Sockets {
    unsafe fn start(&self, devices: &[Device], transfers: &[Transfer]) -> Outcome<()> {
        let mut state = lock(&self.state);
        if let Some(fault) = &state.fault {
            return Err(fault.clone().into());
        }
        let number = state.next;
        state.next += 1;
        let backend = devices[0].backend();
        for it in transfers.iter().filter(|it| it.from == it.to) {
            if let (Some(source), Some(destination)) = (it.source, it.destination) {
                // SAFETY: both places are in live allocations and do not overlap, and no conflicting work is
                // submitted: the contract of `start`.
                unsafe { backend.copy_on_device(destination, source, it.bytes)? };
            }
        }
        let with_memory = |frames: Vec<Frame>| {
            let frames = frames.into_iter().map(Frame::with_memory);
            frames.collect::<Outcome<Vec<_>>>()
        };
        let outgoing = self.frames(number, transfers, |it| it.source.map(|_| it.to));
        let incoming = self.frames(number, transfers, |it| it.destination.map(|_| it.from));
        let (mut outgoing, mut incoming) = (with_memory(outgoing)?, with_memory(incoming)?);
        for (frame, bytes) in &mut outgoing {
            let mut rest = &mut bytes[..];
            for it in &frame.transfers {
                let (part, after) = rest.split_at_mut(it.bytes);
                rest = after;
                let source = it.source.expect("the frame goes from here");
                // SAFETY: the source is in a live allocation, and no conflicting work is submitted: the contract of
                // `start`.
                unsafe { backend.copy_to_host(part, source)? };
            }
        }
        self.run(&outgoing, &mut incoming).map_err(|fault| {
            self.close();
            state.fault = Some(fault.clone());
            ErrorKind::from(fault)
        })?;
        for (frame, bytes) in &incoming {
            let mut rest = &bytes[..];
            for it in &frame.transfers {
                let (part, after) = rest.split_at(it.bytes);
                rest = after;
                let destination = it.destination.expect("the frame comes here");
                // SAFETY: the destination is in a live allocation, and no conflicting work is submitted: the
                // contract of `start`.
                unsafe { backend.copy_to_device(destination, part)? };
            }
        }
        Ok(())
    }

    /// Nothing is left to do: `start` has sent and received all frames.
    fn finish(&self, _devices: &[Device], _transfers: &[Transfer]) -> Outcome<()> {
        Ok(())
    }

    fn abandon(&self, cause: &ErrorKind) {
        let mut state = lock(&self.state);
        state.fault.get_or_insert_with(|| fault_after(cause));
        self.close();
    }
}
