//! Kernels as data: the steps of each thread. Their costs are computed twice, by the simulator ([`crate::kernel`]) and
//! by a slow model ([`crate::model`]).

use simt::{AccessKind, Space};
use std::fmt;
use std::ops::Range;

/// Places in the kernel's source that access memory. The last one copies asynchronously.
pub const PLACES: usize = 4;

/// The place of asynchronous copies.
pub const COPY: usize = PLACES - 1;

/// Views of global memory, as first byte and number of bytes. The second starts within a sector of the first.
pub const GLOBAL_VIEWS: [(usize, usize); 2] = [(0, 2048), (1028, 2048)];

/// A block's shared arrays, by their bytes.
pub const SHARED_VIEWS: usize = 2;
pub const SHARED_BYTES: usize = 16 * 1024;

/// A kernel and its launch.
#[derive(Clone, Debug)]
pub struct Program {
    pub warp_width: u32,
    pub blocks: u32,
    pub threads: u32,
    /// The operation of each place; [`COPY`] copies to shared memory.
    pub places: [Place; PLACES],
    pub exits: Vec<Exit>,
    pub steps: Vec<Step>,
}

/// The operation of a place in the source.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub space: Space,
    pub kind: AccessKind,
    /// Bytes of each lane.
    pub bytes: usize,
}

/// These lanes of each warp return before a step.
#[derive(Clone, Debug)]
pub struct Exit {
    pub lanes: u64,
    pub before: usize,
}

#[derive(Clone, Debug)]
pub enum Step {
    Access(Access),
    Loop(Loop),
    /// All threads of the block meet. None has exited.
    BlockBarrier,
    /// Those of these lanes that have not exited meet. If some have exited, these are all lanes.
    WarpBarrier(u64),
}

/// An access at a place, by each lane that is active.
#[derive(Clone, Debug)]
pub struct Access {
    pub place: usize,
    pub view: usize,
    pub active: u64,
    /// Copies of these lanes write only zeros.
    pub zeros: u64,
    /// For each lane, the element of the view, as far as it has so many.
    pub elements: Elements,
    /// Elements of global memory are aligned to 4 bytes, not to their size.
    pub is_packed: bool,
}

/// Elements of lanes, printed on one line by a failure.
#[derive(Clone)]
pub struct Elements(pub Vec<usize>);

impl fmt::Debug for Elements {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&format!("{:?}", self.0))
    }
}

/// A loop that some lanes leave earlier than others.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Which of two loops in the source.
    pub place: usize,
    /// Whether its rounds are marked for the counters.
    pub is_marked: bool,
    pub rounds: u32,
    /// Lane `l` skips the last `l % leave_out` rounds.
    pub leave_out: u32,
    pub body: Vec<Step>,
}

/// A thread's position in the launch, and the rounds of its loops.
#[derive(Clone, Debug)]
pub struct Here {
    pub block: usize,
    pub warp: usize,
    pub lane: usize,
    pub rounds: Vec<u32>,
}

impl Program {
    /// The lanes that warp `warp` of a block starts with.
    pub fn lanes_of_warp(&self, warp: usize) -> u64 {
        let first = warp as u32 * self.warp_width;
        let lanes = (self.threads - first).min(self.warp_width);
        u64::MAX >> (64 - lanes)
    }

    pub fn warps(&self) -> usize {
        self.threads.div_ceil(self.warp_width) as usize
    }

    /// The lanes of a warp that have not exited before step `number`.
    pub fn present(&self, warp: usize, number: usize) -> u64 {
        let exits = self.exits.iter().filter(|exit| exit.before <= number);
        exits.fold(self.lanes_of_warp(warp), |lanes, exit| lanes & !exit.lanes)
    }
}

impl Access {
    /// Lanes skip some rounds, and others in the next one.
    pub fn is_active(&self, here: &Here) -> bool {
        self.active.rotate_left(here.rounds.iter().sum()) >> here.lane & 1 == 1
    }

    /// The bytes of the view that the lane accesses; for a copy, those that it writes.
    pub fn bytes_of(&self, here: &Here, place: Place) -> Range<usize> {
        let view_bytes = match place.space {
            Space::Global => GLOBAL_VIEWS[self.view].1,
            _ => SHARED_BYTES,
        };
        let step = match place.space {
            Space::Global if self.is_packed => place.bytes.min(4),
            _ => place.bytes,
        };
        let elements = (view_bytes - place.bytes) / step + 1;
        let element = self.elements.0[here.lane] + shift(here);
        let first = element % elements * step;
        first..first + place.bytes
    }

    /// The bytes of the first view of global memory that the lane's copy reads; none if it writes only zeros.
    pub fn source_of(&self, here: &Here, place: Place) -> Option<Range<usize>> {
        let opposite = Here {
            lane: self.elements.0.len() - 1 - here.lane,
            ..here.clone()
        };
        let source = Place {
            space: Space::Global,
            ..place
        };
        let access = Self {
            view: 0,
            is_packed: false,
            ..self.clone()
        };
        let reads = self.zeros >> here.lane & 1 == 0;
        reads.then(|| access.bytes_of(&opposite, source))
    }
}

impl Loop {
    pub fn rounds_of(&self, lane: usize) -> u32 {
        self.rounds.saturating_sub(lane as u32 % self.leave_out)
    }
}

/// Blocks, warps and rounds access other elements.
fn shift(here: &Here) -> usize {
    let rounds: u32 = here.rounds.iter().sum();
    3 * here.block + 8 * here.warp + 5 * rounds as usize
}
