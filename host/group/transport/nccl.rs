//! NCCL between processes with one CUDA device each.
//!
//! An exchange is one group of `ncclSend` and `ncclRecv` in the device's stream of transfers, beside its work. The
//! communicator does not block. To finish an exchange, the host polls it until the stream has passed it, and aborts
//! it if NCCL reports a fault or the timeout has passed. So no process waits for one that is gone.
//!
//! Before each exchange, every rank sends a header to every other, and compares the headers that it receives. Headers
//! have one size and go between all ranks, whatever the exchange is, so they arrive even if processes make different
//! calls.

mod header;
mod library;

use super::deadline::Deadline;
use super::{Transfer, Transport, fault_after};
use crate::device::Device;
use crate::error::{ErrorKind, GroupError, Outcome};
use crate::group::options::GroupOptions;
use crate::group::transport::no_rendezvous;
use crate::locks::lock;
use header::Header;
use library::{BYTES, Communicator, Config, Functions, ID_BYTES, IN_PROGRESS, SUCCESS, UniqueId};
use std::ffi::{c_int, c_void};
use std::fmt;
use std::mem;
use std::ptr::{self, NonNull};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::Duration;

/// The time between two polls of a communicator that is being set up.
const PAUSE: Duration = Duration::from_micros(100);

/// A new id, which one process makes for all.
pub fn unique_id() -> Outcome<[u8; ID_BYTES]> {
    let functions = library::open()?;
    let mut id = UniqueId([0; ID_BYTES]);
    // SAFETY: `id` is a place for one id.
    let status = unsafe { (functions.ncclGetUniqueId)(&raw mut id) };
    functions.check(status)?;
    Ok(id.0)
}

/// The communicator of one rank.
pub struct Nccl {
    functions: &'static Functions,
    rank: usize,
    ranks: usize,
    /// Keeps the device's context alive.
    device: Device,
    timeout: Duration,
    state: Mutex<State>,
}

struct State {
    /// Null after an abort.
    communicator: Communicator,
    /// The number of the next exchange.
    next: u64,
    /// Page-locked memory: a header to each rank, and one from each.
    headers: Option<NonNull<Header>>,
    /// The deadline of the exchange in progress.
    deadline: Option<Deadline>,
    /// The fault that ended all exchanges.
    fault: Option<GroupError>,
}

// SAFETY: NCCL's functions may be called with one communicator from any thread, one at a time. The headers are the
// state's own.
unsafe impl Send for State {}

impl Nccl {
    /// Connects to the other ranks of a group of `ranks`.
    pub fn join(
        id: [u8; ID_BYTES],
        (rank, ranks): (usize, usize),
        device: &Device,
        options: GroupOptions,
    ) -> Outcome<Self> {
        let functions = library::open()?;
        if device.is_simulator() {
            let reason = "NCCL needs CUDA devices; ranks with simulated ones meet by GroupId::tcp";
            return Err(no_rendezvous(reason.to_owned()));
        }
        let nccl = Self {
            functions,
            rank,
            ranks,
            device: device.clone(),
            timeout: options.timeout(),
            state: Mutex::new(State {
                communicator: ptr::null_mut(),
                next: 0,
                headers: None,
                deadline: None,
                fault: None,
            }),
        };
        let (rank, ranks) = (rank as c_int, ranks as c_int);
        let mut config = Config::NON_BLOCKING;
        nccl.with_state(|state| {
            let place = &raw mut state.communicator;
            // SAFETY: `place` and `config` are valid, the id is passed by value, and the device's context is
            // current.
            let status = unsafe {
                (functions.ncclCommInitRankConfig)(
                    place,
                    ranks,
                    UniqueId(id),
                    rank,
                    &raw mut config,
                )
            };
            let deadline = Deadline::after(nccl.timeout);
            nccl.settle(state, status, deadline)
        })?;
        Ok(nccl)
    }

    /// Runs `body` in the device's context. If it fails, the communicator is aborted for good.
    fn with_state(&self, body: impl FnOnce(&mut State) -> Outcome<()>) -> Outcome<()> {
        let mut state = lock(&self.state);
        if let Some(fault) = &state.fault {
            return Err(fault.clone().into());
        }
        let result = self
            .device
            .in_context(|| body(&mut state))
            .and_then(|it| it);
        result.inspect_err(|cause| self.abort(&mut state, cause))
    }

    /// Waits until a call that returned `status` is done.
    fn settle(&self, state: &State, status: u32, deadline: Deadline) -> Outcome<()> {
        let mut status = status;
        while status == IN_PROGRESS {
            if deadline.left().is_none() {
                return Err(self.late());
            }
            sleep(PAUSE);
            status = self.status(state)?;
        }
        self.functions.check(status)
    }

    /// The communicator's status.
    fn status(&self, state: &State) -> Outcome<u32> {
        let mut status = SUCCESS;
        // SAFETY: the communicator was made and not aborted; `status` is a place for one number.
        let call =
            unsafe { (self.functions.ncclCommGetAsyncError)(state.communicator, &raw mut status) };
        self.functions.check(call)?;
        Ok(status)
    }

    fn late(&self) -> ErrorKind {
        let after = self.timeout;
        GroupError::NcclTimeout { after }.into()
    }

    /// Aborts the communicator, and what it left in the stream.
    fn abort(&self, state: &mut State, cause: &ErrorKind) {
        state.fault.get_or_insert_with(|| fault_after(cause));
        let communicator = mem::replace(&mut state.communicator, ptr::null_mut());
        if !communicator.is_null() {
            // SAFETY: the communicator was made, and is forgotten here.
            let abort = || unsafe { (self.functions.ncclCommAbort)(communicator) };
            // The communicator of a lost device is lost with it.
            let _ = self.device.in_context(abort);
            // Work that NCCL left in the stream runs before the buffers are freed or written.
            let _ = self.device.backend().end_transfers();
        }
    }

    /// Ends the communicator when the other ranks have received what this one sent.
    fn finish(&self, state: &mut State) -> Outcome<()> {
        // SAFETY: the communicator was made and not aborted.
        let status = unsafe { (self.functions.ncclCommFinalize)(state.communicator) };
        self.settle(state, status, Deadline::after(self.timeout))?;
        let communicator = mem::replace(&mut state.communicator, ptr::null_mut());
        // SAFETY: the communicator was made and not aborted, and it is forgotten here.
        let status = unsafe { (self.functions.ncclCommDestroy)(communicator) };
        self.functions.check(status)?;
        if let Some(headers) = state.headers.take() {
            // SAFETY: a live allocation that nothing uses any more: `header_memory` made it, and the exchanges of the
            // communicator are done.
            unsafe {
                self.device
                    .backend()
                    .free_pinned(headers.cast(), self.header_bytes())
            };
        }
        Ok(())
    }

    fn header_bytes(&self) -> usize {
        2 * self.ranks * Header::BYTES
    }

    /// Memory for the headers. After a fault it stays, because a message may still arrive there.
    fn header_memory(&self, state: &mut State) -> Outcome<NonNull<Header>> {
        if state.headers.is_none() {
            let memory = self.device.backend().allocate_pinned(self.header_bytes())?;
            state.headers = Some(memory.cast());
        }
        Ok(state.headers.expect("it was just made"))
    }

    /// Exchanges headers with all other ranks, and fails if one is about to make another exchange. It waits for no
    /// earlier work of the device.
    fn compare(
        &self,
        state: &mut State,
        transfers: &[Transfer],
        deadline: Deadline,
    ) -> Outcome<()> {
        let number = state.next;
        state.next += 1;
        let own = self.header_memory(state)?;
        let header = |peer| Header::new(number, transfers, self.rank, peer);
        let peers = || (0..self.ranks).filter(|peer| *peer != self.rank);
        let mut messages = Vec::new();
        for peer in peers() {
            // SAFETY: the memory has a header to each rank, and one from each; no message is on its way.
            let (to, from) = unsafe {
                own.add(peer).write(header(peer));
                (own.add(peer), own.add(self.ranks + peer))
            };
            let address = |at: NonNull<Header>| Some(at.as_ptr().expose_provenance() as u64);
            let bytes = Header::BYTES;
            messages.push(Transfer {
                from: self.rank,
                to: peer,
                bytes,
                element: bytes,
                source: address(to),
                destination: None,
            });
            messages.push(Transfer {
                from: peer,
                to: self.rank,
                bytes,
                element: bytes,
                source: None,
                destination: address(from),
            });
        }
        let stream = self.device.backend().transfer_stream();
        // SAFETY: the headers are in live memory, which the device reaches, because it is page-locked, and no others
        // use it until the messages are done or the communicator is aborted, after which it stays. The stream is the
        // device's.
        let status = unsafe { self.submit(state, &messages, stream) };
        self.settle(state, status, deadline)?;
        self.wait(state, deadline)?;
        for rank in peers() {
            // SAFETY: the memory has a header from each rank, which has arrived.
            let found = unsafe { own.add(self.ranks + rank).read_volatile() }.of_peer();
            let expected = header(rank);
            if found != expected {
                let reason = format!("{found} instead of {expected}");
                return Err(GroupError::OutOfStep { rank, reason }.into());
            }
        }
        Ok(())
    }

    /// Waits until the stream of transfers is done.
    fn wait(&self, state: &State, deadline: Deadline) -> Outcome<()> {
        while !self.device.backend().are_transfers_done()? {
            let status = self.status(state)?;
            if status != SUCCESS && status != IN_PROGRESS {
                return Err(self.functions.error(status).into());
            }
            if deadline.left().is_none() {
                return Err(self.late());
            }
            std::hint::spin_loop();
        }
        Ok(())
    }

    /// Submits the sends and receives to a stream of the device.
    ///
    /// # Safety
    /// The requirements of [`Transport::start`], and `stream` is alive.
    unsafe fn submit(
        &self,
        state: &State,
        transfers: &[Transfer],
        stream: Option<NonNull<c_void>>,
    ) -> u32 {
        let functions = self.functions;
        let stream = stream.map_or(ptr::null_mut(), NonNull::as_ptr);
        // SAFETY: a group that is started is ended below.
        let mut first = unsafe { (functions.ncclGroupStart)() };
        let mut keep_first = |status| {
            if first == SUCCESS {
                first = status;
            }
        };
        let (send, receive) = (functions.ncclSend, functions.ncclRecv);
        let communicator = state.communicator;
        for it in transfers.iter().filter(|it| it.from != it.to) {
            let at = |address: u64| ptr::with_exposed_provenance_mut(address as usize);
            let (from, to) = (it.from as c_int, it.to as c_int);
            // SAFETY: the bytes are in live allocations of this device, and nothing conflicts with the transfers
            // until they are finished: the caller's contract. The stream is alive, by the same contract.
            unsafe {
                if let Some(source) = it.source.map(at) {
                    keep_first(send(source, it.bytes, BYTES, to, communicator, stream));
                }
                if let Some(place) = it.destination.map(at) {
                    keep_first(receive(place, it.bytes, BYTES, from, communicator, stream));
                }
            }
        }
        // SAFETY: the group was started.
        let ended = unsafe { (functions.ncclGroupEnd)() };
        match first {
            SUCCESS | IN_PROGRESS => ended,
            first => first,
        }
    }
}

impl Transport for Nccl {
    unsafe fn start(&self, _devices: &[Device], transfers: &[Transfer]) -> Outcome<()> {
        self.with_state(|state| {
            let deadline = Deadline::after(self.timeout);
            state.deadline = Some(deadline);
            self.compare(state, transfers, deadline)?;
            let backend = self.device.backend();
            for it in transfers.iter().filter(|it| it.from == it.to) {
                if let (Some(source), Some(destination)) = (it.source, it.destination) {
                    // SAFETY: both places are in live allocations and do not overlap, and no conflicting work is
                    // submitted: the contract of `start`.
                    unsafe { backend.copy_on_device(destination, source, it.bytes)? };
                }
            }
            backend.start_transfers()?;
            let stream = backend.transfer_stream();
            // SAFETY: the transfers meet the contract of `start`, and the stream is the device's.
            let status = unsafe { self.submit(state, transfers, stream) };
            self.settle(state, status, deadline)
        })
    }

    fn finish(&self, _devices: &[Device], _transfers: &[Transfer]) -> Outcome<()> {
        self.with_state(|state| {
            let deadline = state.deadline.take();
            let deadline = deadline.unwrap_or_else(|| Deadline::after(self.timeout));
            self.wait(state, deadline)
        })
    }

    fn abandon(&self, cause: &ErrorKind) {
        let mut state = lock(&self.state);
        self.abort(&mut state, cause);
    }
}

impl Drop for Nccl {
    fn drop(&mut self) {
        // After a fault there is nothing to finish, and a new one can no longer be reported.
        let _ = self.with_state(|state| self.finish(state));
    }
}

impl fmt::Debug for Nccl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Nccl")
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}
