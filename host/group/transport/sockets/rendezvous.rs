//! How ranks find one another: all connect to rank 0, which tells them where the others listen; then each connects
//! to the ranks below it.

use super::stream::{Fault, has_ended, read, write};
use crate::error::{Outcome, bytes, counted};
use crate::group::options::MAX_RANKS;
use crate::group::transport::deadline::Deadline;
use crate::group::transport::no_rendezvous;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::sleep;
use std::time::Duration;

/// The first bytes of a connection.
const GREETING: [u8; 8] = *b"tilewrt2";

/// Bytes of a hello: the greeting, the rank, the number of ranks, and the port on which the rank listens.
const HELLO: usize = GREETING.len() + 10;

/// The most bytes of the table of addresses, a line for each rank.
const MOST_TABLE_BYTES: usize =
    MAX_RANKS * "[0000:0000:0000:0000:0000:0000:0000:0000%4294967295]:65535\n".len();

/// The time between two checks whether another process has connected.
const PAUSE: Duration = Duration::from_millis(2);

/// The longest time between two tries to connect; the first is `PAUSE`.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// The time to wait for the hello of a connection; a rank sends it at once.
const PATIENCE: Duration = Duration::from_secs(1);

/// A process's description of itself, sent when it connects.
#[derive(Clone, Copy, Debug)]
struct Hello {
    rank: usize,
    ranks: usize,
    port: u16,
}

impl Hello {
    fn bytes(self) -> [u8; HELLO] {
        let mut bytes = [0; HELLO];
        bytes[..8].copy_from_slice(&GREETING);
        bytes[8..12].copy_from_slice(&(self.rank as u32).to_le_bytes());
        bytes[12..16].copy_from_slice(&(self.ranks as u32).to_le_bytes());
        bytes[16..].copy_from_slice(&self.port.to_le_bytes());
        bytes
    }

    /// `None` if no rank sent the bytes, but another program.
    fn of(bytes: [u8; HELLO]) -> Option<Self> {
        let number = |at: usize| {
            let bytes: [u8; 4] = bytes[at..at + 4].try_into().expect("four bytes");
            u32::from_le_bytes(bytes) as usize
        };
        let hello = Self {
            rank: number(8),
            ranks: number(12),
            port: u16::from_le_bytes([bytes[16], bytes[17]]),
        };
        (bytes[..8] == GREETING && hello.rank < hello.ranks).then_some(hello)
    }
}

/// A connection to each other rank.
pub fn meet(
    (address, listener): (SocketAddr, Option<&TcpListener>),
    rank: usize,
    ranks: usize,
    timeout: Duration,
) -> Outcome<Vec<Option<TcpStream>>> {
    let rendezvous = Rendezvous {
        rank,
        ranks,
        timeout,
        deadline: Deadline::after(timeout),
    };
    let peers = match rank {
        0 => rendezvous.host(listener.ok_or_else(not_made_here)?)?,
        _ => rendezvous.visit(address)?,
    };
    for stream in peers.iter().flatten() {
        // Frames are written whole.
        stream.set_nodelay(true).map_err(system)?;
    }
    Ok(peers)
}

struct Rendezvous {
    rank: usize,
    ranks: usize,
    timeout: Duration,
    deadline: Deadline,
}

impl Rendezvous {
    /// Rank 0: accepts the others, and tells each where all listen. A rank may give up and try again meanwhile.
    fn host(&self, listener: &TcpListener) -> Outcome<Vec<Option<TcpStream>>> {
        let mut addresses = vec![listener.local_addr().map_err(system)?; self.ranks];
        let mut peers: Vec<Option<TcpStream>> = (0..self.ranks).map(|_| None).collect();
        let is_absent = |peer: &Option<TcpStream>| peer.as_ref().is_none_or(has_ended);
        while let Some(missing) = (1..self.ranks).find(|rank| is_absent(&peers[*rank])) {
            let (hello, stream) = self.accept(listener, missing)?;
            let ip = stream.peer_addr().map_err(system)?.ip();
            self.place(&mut peers, hello.rank, stream)?;
            addresses[hello.rank] = SocketAddr::new(ip, hello.port);
        }
        let table = addresses.iter().map(|it| format!("{it}\n"));
        let table = table.collect::<String>();
        for (rank, stream) in peers.iter().enumerate() {
            let Some(stream) = stream else { continue };
            let length = (table.len() as u32).to_le_bytes();
            write(stream, &length, self.deadline)
                .and_then(|()| write(stream, table.as_bytes(), self.deadline))
                .map_err(|fault| self.error(rank, fault))?;
        }
        Ok(peers)
    }

    /// Any other rank: connects to rank 0 and to the ranks below its own, and accepts those above.
    fn visit(&self, host: SocketAddr) -> Outcome<Vec<Option<TcpStream>>> {
        let to_host = self.connect(0, host)?;
        // Listens on the network over which rank 0 is reached.
        let own = SocketAddr::new(to_host.local_addr().map_err(system)?.ip(), 0);
        let listener = TcpListener::bind(own).map_err(system)?;
        self.greet(0, &to_host, listener.local_addr().map_err(system)?.port())?;
        let addresses = self.read_table(&to_host)?;
        let mut peers: Vec<Option<TcpStream>> = (0..self.ranks).map(|_| None).collect();
        peers[0] = Some(to_host);
        for rank in 1..self.rank {
            let stream = self.connect(rank, addresses[rank])?;
            self.greet(rank, &stream, 0)?;
            peers[rank] = Some(stream);
        }
        while let Some(missing) = (self.rank + 1..self.ranks).find(|rank| peers[*rank].is_none()) {
            let (hello, stream) = self.accept(&listener, missing)?;
            self.place(&mut peers, hello.rank, stream)?;
        }
        Ok(peers)
    }

    /// The next connection of a rank of this group. Connections of other programs are closed.
    fn accept(&self, listener: &TcpListener, missing: usize) -> Outcome<(Hello, TcpStream)> {
        listener.set_nonblocking(true).map_err(system)?;
        loop {
            let left = self.deadline.left();
            let left = left.ok_or_else(|| self.error(missing, Fault::Late))?;
            let stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    sleep(PAUSE);
                    continue;
                }
                Err(error) => return Err(system(error)),
            };
            stream.set_nonblocking(false).map_err(system)?;
            let mut bytes = [0; HELLO];
            let deadline = Deadline::after(left.min(PATIENCE));
            if read(&stream, &mut bytes, deadline).is_err() {
                continue;
            }
            // If a rank has closed its connection while waiting for rank 0's answer, this was an earlier try, which it
            // gave up.
            if self.rank == 0 && has_ended(&stream) {
                continue;
            }
            let Some(hello) = Hello::of(bytes) else {
                continue;
            };
            if hello.ranks != self.ranks {
                return Err(no_rendezvous(format!(
                    "rank {} joins a group of {}, and rank {} a group of {}; all processes must pass the same number of ranks",
                    hello.rank,
                    counted(hello.ranks as u64, "rank", "ranks"),
                    self.rank,
                    self.ranks
                )));
            }
            return Ok((hello, stream));
        }
    }

    fn place(
        &self,
        peers: &mut [Option<TcpStream>],
        rank: usize,
        stream: TcpStream,
    ) -> Outcome<()> {
        let place = peers.get_mut(rank).filter(|_| rank != self.rank);
        match place {
            Some(place) if place.as_ref().is_none_or(has_ended) => *place = Some(stream),
            _ => {
                return Err(no_rendezvous(format!(
                    "two processes join as rank {rank}; each must join as a rank of its own"
                )));
            }
        }
        Ok(())
    }

    /// A connection to `rank`, which may not listen yet.
    fn connect(&self, rank: usize, address: SocketAddr) -> Outcome<TcpStream> {
        let mut pause = PAUSE;
        loop {
            let left = self.deadline.left();
            let left = left.ok_or_else(|| self.error(rank, Fault::Late))?;
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) if is_own_end(&stream) => leave_port(stream),
                Ok(stream) => return Ok(stream),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(self.error(rank, error.into())),
            }
            sleep(pause.min(left));
            pause = (pause + pause / 4).min(LONGEST_PAUSE);
        }
    }

    fn greet(&self, rank: usize, stream: &TcpStream, port: u16) -> Outcome<()> {
        let hello = Hello {
            rank: self.rank,
            ranks: self.ranks,
            port,
        };
        write(stream, &hello.bytes(), self.deadline).map_err(|fault| self.error(rank, fault))
    }

    /// Reads the addresses on which the ranks listen.
    fn read_table(&self, host: &TcpStream) -> Outcome<Vec<SocketAddr>> {
        let of_host = |fault| self.error(0, fault);
        let mut length = [0; 4];
        read(host, &mut length, self.deadline).map_err(of_host)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MOST_TABLE_BYTES {
            return Err(no_rendezvous(format!(
                "the process at the address of rank 0 announces {}, and is no rank of a group",
                bytes(length)
            )));
        }
        let mut table = vec![0; length];
        read(host, &mut table, self.deadline).map_err(of_host)?;
        let lines = String::from_utf8_lossy(&table);
        let addresses: Vec<_> = lines.lines().filter_map(|line| line.parse().ok()).collect();
        match addresses.len() == self.ranks {
            true => Ok(addresses),
            false => Err(no_rendezvous(format!(
                "rank 0 has a group of {}, and this process one of {}; all processes must pass the same number of ranks",
                counted(addresses.len(), "rank", "ranks"),
                self.ranks
            ))),
        }
    }

    fn error(&self, rank: usize, fault: Fault) -> crate::ErrorKind {
        fault.of_rank(rank, self.timeout).into()
    }
}

/// Whether the connection leads back to itself: TCP connects a port that nobody listens on to itself, if the system
/// picks that very port for the near end.
fn is_own_end(stream: &TcpStream) -> bool {
    matches!((stream.local_addr(), stream.peer_addr()), (Ok(near), Ok(far)) if near == far)
}

/// Closes a connection that leads back to itself, so that the rank that it was meant for can listen on the port at
/// once. If bytes are left unread, the system resets the connection, and does not keep its port for a minute.
fn leave_port(stream: TcpStream) {
    // If nothing can be written, the port stays busy for a while.
    let _ = write(&stream, &[0], Deadline::after(PATIENCE));
}

fn not_made_here() -> crate::ErrorKind {
    no_rendezvous("rank 0 joins with the id that it made itself".to_owned())
}

fn system(error: io::Error) -> crate::ErrorKind {
    no_rendezvous(format!(
        "the system refused a connection between the processes: {error}"
    ))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_connection_to_itself_is_seen_and_leaves_its_port() {
        // Linux connects from even ports while it has some, one after another.
        let ports = (34_000..60_000).step_by(2);
        let mut addresses = ports.map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let is_free = |it: &SocketAddr| TcpListener::bind(it).is_ok();
        let address = addresses.find(is_free).unwrap();
        let connect = |_| TcpStream::connect(address).ok();
        let stream = (0..100_000).find_map(connect).expect("all ports in turn");
        assert!(is_own_end(&stream));
        leave_port(stream);
        TcpListener::bind(address).unwrap();
    }
}
