//! Reads and writes of a connection, with a deadline.

use crate::error::GroupError;
use crate::group::transport::deadline::Deadline;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Why a read or a write failed.
#[derive(Debug)]
pub enum Fault {
    /// The deadline has passed.
    Late,
    /// The connection has ended; has the system's message.
    Lost(String),
}

impl Fault {
    /// The error of an exchange with `rank` that may last `after`.
    pub fn of_rank(self, rank: usize, after: Duration) -> GroupError {
        match self {
            Self::Late => GroupError::PeerTimeout { rank, after },
            Self::Lost(reason) => GroupError::PeerLost { rank, reason },
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Self::Late,
            _ => Self::Lost(error.to_string()),
        }
    }
}

/// Reads all of `bytes`.
pub fn read(stream: &TcpStream, bytes: &mut [u8], deadline: Deadline) -> Result<(), Fault> {
    let (mut stream, mut rest) = (stream, bytes);
    while !rest.is_empty() {
        stream.set_read_timeout(Some(deadline.left().ok_or(Fault::Late)?))?;
        match stream.read(rest) {
            Ok(0) => return Err(Fault::Lost("it closed the connection".to_owned())),
            Ok(count) => rest = &mut rest[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes all of `bytes`.
pub fn write(stream: &TcpStream, bytes: &[u8], deadline: Deadline) -> Result<(), Fault> {
    let (mut stream, mut rest) = (stream, bytes);
    while !rest.is_empty() {
        stream.set_write_timeout(Some(deadline.left().ok_or(Fault::Late)?))?;
        match stream.write(rest) {
            Ok(0) => return Err(Fault::Lost("it takes no more".to_owned())),
            Ok(count) => rest = &rest[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Whether the other end has closed the connection, or it has failed. Nothing is read.
pub fn has_ended(stream: &TcpStream) -> bool {
    let peeked = stream
        .set_nonblocking(true)
        .and_then(|()| stream.peek(&mut [0]));
    let is_open = match peeked {
        Ok(count) => count > 0,
        Err(error) => error.kind() == ErrorKind::WouldBlock,
    };
    !is_open || stream.set_nonblocking(false).is_err()
}
