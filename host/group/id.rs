//! How the processes of a group find one another.

use super::options::GroupOptions;
#[cfg(feature = "cuda")]
use super::transport::{Nccl, unique_id};
use super::transport::{Sockets, Transport, no_rendezvous};
use crate::device::Device;
use crate::error::{During, Error, Outcome, Result};
use std::fmt;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::str::FromStr;
use std::sync::Arc;

/// An id by which the processes of a [`DeviceGroup`](crate::DeviceGroup) find one another.
///
/// One process makes it and passes its text to the others.
///
/// ```
/// use tilewright::GroupId;
///
/// let id = GroupId::tcp("127.0.0.1:0")?; // rank 0, on a port that is free
/// let same: GroupId = id.to_string().parse()?; // another process
/// assert_eq!(same, id);
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GroupId {
    rendezvous: Rendezvous,
    /// The listener of the process that made the id, rank 0.
    listener: Option<Arc<TcpListener>>,
}

/// Where the processes meet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rendezvous {
    Tcp(SocketAddr),
    Nccl([u8; NCCL_BYTES]),
}

/// Bytes of NCCL's unique id.
const NCCL_BYTES: usize = 128;

impl GroupId {
    /// Makes an id for processes that meet at a TCP address of rank 0.
    ///
    /// Rank 0 makes it; port 0 picks a free port. Each pair of processes has a connection. Bytes go from the device
    /// to the host, over the connection, and to the other device. Connections are neither encrypted nor
    /// authenticated: use addresses of this machine or of a network that you trust.
    ///
    /// # Errors
    /// [`GroupError::Rendezvous`](crate::GroupError::Rendezvous) in [`ErrorKind::Group`](crate::ErrorKind::Group)
    /// if this process cannot listen there.
    pub fn tcp(address: impl ToSocketAddrs) -> Result<Self> {
        let listener = TcpListener::bind(address);
        listener
            .and_then(|listener| {
                Ok(Self {
                    rendezvous: Rendezvous::Tcp(listener.local_addr()?),
                    listener: Some(Arc::new(listener)),
                })
            })
            .map_err(|error| {
                no_rendezvous(format!(
                    "this process cannot listen on the address: {error}"
                ))
            })
            .during("GroupId::tcp")
    }

    /// Makes an id for processes that communicate over NCCL, with one CUDA device each.
    ///
    /// Any of the processes makes it. NCCL finds the fastest path between the devices. This transport has not run
    /// on GPUs yet.
    ///
    /// The first such call opens NCCL's library, 2.14 or later. Environment variables configure it, such as
    /// `NCCL_NVLS_ENABLE=0` to turn off multicast over NVLink.
    ///
    /// # Errors
    /// [`GroupError::NoNccl`](crate::GroupError::NoNccl) and [`GroupError::Nccl`](crate::GroupError::Nccl) in
    /// [`ErrorKind::Group`](crate::ErrorKind::Group); [`ErrorKind::NoCudaFeature`](crate::ErrorKind::NoCudaFeature)
    /// in a build without the feature `cuda`.
    pub fn nccl() -> Result<Self> {
        unique_id()
            .map(|id| Self {
                rendezvous: Rendezvous::Nccl(id),
                listener: None,
            })
            .during("GroupId::nccl")
    }

    /// Connects to the other ranks; with this one there are `ranks`.
    pub(super) fn meet(
        &self,
        rank: usize,
        ranks: usize,
        device: &Device,
        options: GroupOptions,
    ) -> Outcome<Box<dyn Transport>> {
        match self.rendezvous {
            Rendezvous::Tcp(address) => {
                let rendezvous = (address, self.listener.as_deref());
                Ok(Box::new(Sockets::join(rendezvous, rank, ranks, options)?))
            }
            Rendezvous::Nccl(id) => meet_over_nccl(id, (rank, ranks), device, options),
        }
    }

    fn parsed(text: &str) -> Outcome<Self> {
        let tcp = |text: &str| Some(Rendezvous::Tcp(text.parse().ok()?));
        let rendezvous = match text.split_once(':') {
            Some(("tcp", text)) => tcp(text),
            Some(("nccl", text)) => bytes_of(text).map(Rendezvous::Nccl),
            _ => None,
        };
        let listener = None;
        rendezvous
            .map(|rendezvous| Self { rendezvous, listener })
            .ok_or_else(|| {
                no_rendezvous(format!(
                    "`{text}` is not the id of a group: an id is tcp:ADDRESS:PORT, with a numeric address as in \
                     tcp:127.0.0.1:4000, or nccl: and {} hexadecimal digits",
                    2 * NCCL_BYTES
                ))
            })
    }
}

#[cfg(not(feature = "cuda"))]
fn unique_id() -> Outcome<[u8; NCCL_BYTES]> {
    Err(crate::error::ErrorKind::NoCudaFeature)
}

#[cfg(feature = "cuda")]
fn meet_over_nccl(
    id: [u8; NCCL_BYTES],
    (rank, ranks): (usize, usize),
    device: &Device,
    options: GroupOptions,
) -> Outcome<Box<dyn Transport>> {
    let transport = Nccl::join(id, (rank, ranks), device, options)?;
    Ok(Box::new(transport))
}

#[cfg(not(feature = "cuda"))]
fn meet_over_nccl(
    _id: [u8; NCCL_BYTES],
    _ranks: (usize, usize),
    _device: &Device,
    _options: GroupOptions,
) -> Outcome<Box<dyn Transport>> {
    Err(crate::error::ErrorKind::NoCudaFeature)
}

/// The bytes that hexadecimal digits stand for.
fn bytes_of(text: &str) -> Option<[u8; NCCL_BYTES]> {
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
    let (pairs, []) = text.as_bytes().as_chunks() else {
        return None;
    };
    let bytes = pairs
        .iter()
        .map(|[high, low]| Some(16 * digit(*high)? + digit(*low)?));
    bytes.collect::<Option<Vec<u8>>>()?.try_into().ok()
}

/// The text that other processes parse.
impl fmt::Display for GroupId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.rendezvous)
    }
}

/// The text of the id.
impl fmt::Debug for Rendezvous {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(formatter, "tcp:{address}"),
            Self::Nccl(bytes) => {
                formatter.write_str("nccl:")?;
                bytes
                    .iter()
                    .try_for_each(|byte| write!(formatter, "{byte:02x}"))
            }
        }
    }
}

impl FromStr for GroupId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parsed(text).during("GroupId::from_str")
    }
}

impl PartialEq for GroupId {
    fn eq(&self, other: &Self) -> bool {
        self.rendezvous == other.rendezvous
    }
}

impl Eq for GroupId {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_id_is_parsed_to_the_same() {
        let bytes = std::array::from_fn(|index| (index * 37) as u8);
        let rendezvous = Rendezvous::Nccl(bytes);
        let listener = None;
        let id = GroupId {
            rendezvous,
            listener,
        };
        let text = id.to_string();
        assert_eq!(text.parse::<GroupId>().unwrap(), id);
        for wrong in [
            &text[..text.len() - 1],
            &text[..text.len() - 2],
            &text.replace("25", "2g"),
        ] {
            assert!(wrong.parse::<GroupId>().is_err(), "{wrong}");
        }
    }
}
