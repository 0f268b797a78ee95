//! Operations of the lanes of a warp together.

use super::thread::Thread;
use crate::decode::{Combine, Shuffle, Vote};
use crate::words::{ShuffleMode, VoteMode};
use simt::DefectKind;

/// The lanes of a mask.
fn lanes(mask: u64) -> impl Iterator<Item = u32> {
    (0..u64::BITS).filter(move |lane| mask >> lane & 1 == 1)
}

/// The lane from which lane `own` reads, and whether it is in range (PTX ISA, "shfl.sync").
fn source_lane(mode: ShuffleMode, own: u32, lane: u32, bounds: u32) -> (u32, bool) {
    let (lane, clamp, segment) = (lane & 31, bounds & 31, bounds >> 8 & 31);
    let first = own & segment;
    let last = first | (clamp & !segment);
    let (source, is_in_range) = match mode {
        ShuffleMode::Up => match own.checked_sub(lane) {
            Some(source) => (source, source >= last),
            None => (own, false),
        },
        ShuffleMode::Down => (own + lane, own + lane <= last),
        ShuffleMode::Butterfly => (own ^ lane, own ^ lane <= last),
        ShuffleMode::Index => {
            let source = first | (lane & !segment);
            (source, source <= last)
        }
    };
    match is_in_range {
        true => (source, true),
        false => (own, false),
    }
}

fn shuffle_name(mode: ShuffleMode) -> &'static str {
    match mode {
        ShuffleMode::Up => "shuffle_up",
        ShuffleMode::Down => "shuffle_down",
        ShuffleMode::Butterfly => "shuffle_xor",
        ShuffleMode::Index => "shuffle",
    }
}

fn vote_name(mode: VoteMode) -> &'static str {
    match mode {
        VoteMode::Ballot => "ballot",
        VoteMode::Any => "vote_any",
        VoteMode::All => "vote_all",
        VoteMode::Uniform => "vote_uni",
    }
}

impl Thread<'_> {
    pub fn shuffle(&mut self, it: &Shuffle) {
        let (lane, bounds) = (self.get(it.lane) as u32, self.get(it.bounds) as u32);
        let own = simt::position().lane;
        let (source, is_in_range) = source_lane(it.mode, own, lane, bounds);
        let (mask, name) = (self.get(it.mask), shuffle_name(it.mode));
        // SAFETY: the closure only reads.
        let value = unsafe {
            simt::warp_collective(name, mask, self.get(it.a), |them| {
                (them.mask >> source & 1 == 1).then(|| them.values[source as usize])
            })
        };
        let Some(value) = value else {
            simt::fail(
                DefectKind::WarpDivergence,
                format!(
                    "{name} reads lane {source}, which the member mask {mask:#x} does not name"
                ),
            )
        };
        self.set(it.d, value);
        self.set(it.predicate, is_in_range.into());
    }

    pub fn vote(&mut self, it: &Vote) {
        let predicate = (self.get(it.a) != 0) != it.is_negated;
        let mask = self.get(it.mask);
        // SAFETY: the closure only reads.
        let votes = unsafe {
            simt::warp_collective(vote_name(it.mode), mask, predicate.into(), |them| {
                lanes(them.mask).fold(0, |set, lane| set | them.values[lane as usize] << lane)
            })
        };
        let value = match it.mode {
            VoteMode::Ballot => votes,
            VoteMode::Any => (votes != 0).into(),
            VoteMode::All => (votes == mask).into(),
            VoteMode::Uniform => (votes == 0 || votes == mask).into(),
        };
        self.set(it.d, value);
    }

    pub fn matching(&mut self, d: u32, a: u32, mask: u32) {
        let (own, mask) = (self.get(a), self.get(mask));
        // SAFETY: the closure only reads.
        let equal = unsafe {
            simt::warp_collective("match_any", mask, own, |them| {
                let equal = lanes(them.mask).filter(|lane| them.values[*lane as usize] == own);
                equal.fold(0, |set, lane| set | 1 << lane)
            })
        };
        self.set(d, equal);
    }

    /// All lanes of the mask if they have one value, otherwise none.
    pub fn match_all(&mut self, d: u32, predicate: u32, a: u32, mask: u32) {
        let mask = self.get(mask);
        // SAFETY: the closure only reads.
        let are_equal = unsafe {
            simt::warp_collective("match_all", mask, self.get(a), |them| {
                let mut values = lanes(them.mask).map(|lane| them.values[lane as usize]);
                let first = values.next();
                values.all(|value| Some(value) == first)
            })
        };
        self.set(d, if are_equal { mask } else { 0 });
        self.set(predicate, are_equal.into());
    }

    /// The lowest lane of the mask leads.
    pub fn elect(&mut self, leader: u32, predicate: u32, mask: u32) {
        let mask = self.get(mask);
        // SAFETY: the closure only reads.
        let lowest =
            unsafe { simt::warp_collective("elect", mask, 0, |them| them.mask.trailing_zeros()) };
        self.set(leader, lowest.into());
        let is_leader = simt::position().lane == lowest;
        self.set(predicate, is_leader.into());
    }

    pub fn combine(&mut self, it: &Combine) {
        let mask = self.get(it.mask);
        // SAFETY: the closure only reads.
        let value = unsafe {
            simt::warp_collective(it.name, mask, self.get(it.a), |them| {
                let values = lanes(them.mask).map(|lane| them.values[lane as usize]);
                values.reduce(it.f)
            })
        };
        self.set(it.d, value.unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_outside_of_the_segment_read_themselves() {
        use ShuffleMode::{Butterfly, Down, Index, Up};
        assert_eq!(source_lane(Butterfly, 5, 1, 31), (4, true));
        assert_eq!(source_lane(Up, 1, 2, 0), (1, false));
        assert_eq!(source_lane(Up, 3, 2, 0), (1, true));
        assert_eq!(source_lane(Down, 30, 2, 31), (30, false));
        assert_eq!(source_lane(Index, 9, 3, 31), (3, true));
        // Segments of eight lanes.
        let eight = (32 - 8) << 8 | 31;
        assert_eq!(source_lane(Index, 9, 3, eight), (11, true));
        assert_eq!(source_lane(Down, 14, 2, eight), (14, false));
        assert_eq!(source_lane(Up, 9, 2, (32 - 8) << 8), (9, false));
    }
}
