//! Warp-level operations.

use simt::DefectKind;

/// Returns `mask`: each function reports a mask that omits the calling lane.
pub fn with_own_lane(mask: u64) -> u64 {
    mask
}

/// How a shuffle finds its source lane.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shuffle {
    Index,
    Up,
    Down,
    Xor,
}

impl Shuffle {
    fn name(self) -> &'static str {
        match self {
            Self::Index => "shuffle",
            Self::Up => "shuffle_up",
            Self::Down => "shuffle_down",
            Self::Xor => "shuffle_xor",
        }
    }

    /// The lane that `own` reads from, or itself if the source is outside its segment of `width` lanes, a power of
    /// two (PTX ISA, 9.7.8.6).
    fn source(self, own: u32, lane: u32, width: u32) -> u32 {
        let within = width - 1;
        let first = own & !within;
        let source = match self {
            Self::Index => Some(first + (lane & within)),
            Self::Up => own.checked_sub(lane).filter(|&source| source >= first),
            Self::Down => Some(own + lane).filter(|&source| source < first + width),
            Self::Xor => Some(own ^ lane).filter(|&source| source < first + width),
        };
        source.unwrap_or(own)
    }

    /// Reports invalid operands, in a warp of `warp` lanes.
    #[track_caller]
    fn check(self, lane: u32, width: u32, warp: u32) {
        if !width.is_power_of_two() || width > warp {
            let name = self.name();
            simt::fail(
                DefectKind::InvalidArgument,
                format!(
                    "{name} in segments of {width} lanes: a power of two up to {warp} is allowed"
                ),
            );
        }
        if self != Self::Index && lane >= warp {
            let name = self.name();
            simt::fail(
                DefectKind::InvalidArgument,
                format!(
                    "{name} over {lane} lanes: a warp has {warp}, and the GPU would wrap around"
                ),
            );
        }
    }
}

/// The value of another lane, `bytes` bytes wide, within segments of `width` lanes.
#[track_caller]
pub fn shuffle(kind: Shuffle, mask: u64, bits: u64, _bytes: usize, lane: u32, width: u32) -> u64 {
    let position = simt::position();
    kind.check(lane, width, position.warp_width);
    let source = kind.source(position.lane, lane, width);
    // SAFETY: the closure only reads.
    let value = unsafe {
        simt::warp_collective(kind.name(), mask, bits, |lanes| {
            contains(lanes.mask, source).then(|| lanes.values[source as usize])
        })
    };
    // No closure: the simulator would report its location.
    let Some(value) = value else {
        let name = kind.name();
        simt::fail(
            DefectKind::WarpDivergence,
            format!("{name} reads lane {source}, which the member mask {mask:#x} does not name"),
        )
    };
    value
}

/// The lanes of `mask` whose predicate is true.
#[track_caller]
pub fn ballot(mask: u64, predicate: bool) -> u64 {
    // SAFETY: the closure only reads.
    unsafe {
        simt::warp_collective("ballot", mask, u64::from(predicate), |lanes| {
            members(lanes.mask, |lane| lanes.values[lane as usize] == 1)
        })
    }
}

/// The lanes of `mask` with the same `bits`, compared over `bytes` bytes.
#[track_caller]
pub fn match_any(mask: u64, bits: u64, _bytes: usize) -> u64 {
    // SAFETY: the closure only reads.
    unsafe {
        simt::warp_collective("match_any", mask, bits, |lanes| {
            members(lanes.mask, |lane| lanes.values[lane as usize] == bits)
        })
    }
}

/// The lanes that run this instruction together: those that have not exited.
#[track_caller]
pub fn active_lanes() -> u64 {
    simt::active_lanes()
}

/// The converged lanes, which may then work together.
#[track_caller]
pub fn converged_lanes() -> u64 {
    simt::converged_lanes()
}

/// The wrapping sum over the lanes of `mask`, if the machine has an instruction for it.
#[track_caller]
pub fn reduce_add_u32(mask: u64, value: u32) -> Option<u32> {
    // SAFETY: the closure only reads.
    let sum = unsafe {
        simt::warp_collective("reduce_add", mask, u64::from(value), |lanes| {
            lanes_of(lanes.mask).fold(0_u32, |sum, lane| {
                sum.wrapping_add(lanes.values[lane as usize] as u32)
            })
        })
    };
    Some(sum)
}

fn contains(mask: u64, lane: u32) -> bool {
    mask >> lane & 1 == 1
}

fn lanes_of(mask: u64) -> impl Iterator<Item = u32> {
    (0..u64::BITS).filter(move |&lane| contains(mask, lane))
}

/// The lanes of `mask` that `belongs` chooses.
fn members(mask: u64, belongs: impl Fn(u32) -> bool) -> u64 {
    lanes_of(mask)
        .filter(|&lane| belongs(lane))
        .fold(0, |set, lane| set | 1 << lane)
}
