//! How the processes of a group find one another.

use crate::error::{During, Error, GroupError, Outcome, Result};
use std::fmt;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// How the processes of a [`DeviceGroup`](crate::DeviceGroup) find one another: one of them makes it, and gives
/// the others its text.
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
    address: SocketAddr,
    /// Of the process that made it: rank 0 listens here.
    listener: Option<Arc<TcpListener>>,
}

impl GroupId {
    /// Processes that meet at a TCP address of rank 0, which makes the id; port 0 is one that is free.
    ///
    /// Each pair of processes has a connection, and bytes go from device to host, over it, and to the other
    /// device. Connections are neither encrypted nor authenticated: use addresses of this machine or of a
    /// network that you trust.
    ///
    /// # Errors
    /// [`GroupError::Meeting`] in [`ErrorKind::Group`](crate::ErrorKind::Group) if this process cannot listen
    /// there.
    pub fn tcp(address: impl ToSocketAddrs) -> Result<Self> {
        let listener = TcpListener::bind(address);
        listener
            .and_then(|listener| {
                Ok(Self {
                    address: listener.local_addr()?,
                    listener: Some(Arc::new(listener)),
                })
            })
            .map_err(|error| no_meeting(format!("the address cannot be listened on: {error}")))
            .during("tcp")
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where rank 0 listens.
    pub(super) fn listener(&self) -> Outcome<Arc<TcpListener>> {
        self.listener
            .clone()
            .ok_or_else(|| no_meeting("rank 0 joins with the id that it made itself".to_owned()))
    }

    fn parsed(text: &str) -> Outcome<Self> {
        let address = text.strip_prefix("tcp:").map(str::parse);
        match address {
            Some(Ok(address)) => Ok(Self {
                address,
                listener: None,
            }),
            _ => Err(no_meeting(format!(
                "`{text}` is not the text of a group's id, which is tcp:ADDRESS:PORT"
            ))),
        }
    }
}

/// The text that other processes parse.
impl fmt::Display for GroupId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "tcp:{}", self.address)
    }
}

impl FromStr for GroupId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parsed(text).during("from_str")
    }
}

impl PartialEq for GroupId {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

impl Eq for GroupId {}

pub(super) fn no_meeting(reason: String) -> crate::ErrorKind {
    GroupError::Meeting { reason }.into()
}

/// How the processes of a group treat one another.
#[derive(Clone, Copy, Debug)]
pub struct GroupOptions {
    timeout: Duration,
}

impl GroupOptions {
    /// How long a rank waits for others, in one call, before the call is
    /// [`GroupError::PeerTimeout`]: 30 seconds, if not given.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }
}

impl Default for GroupOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
        }
    }
}
