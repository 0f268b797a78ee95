//! Accumulators that tensor cores hold.
//!
//! Meanwhile their slots hold tags above the 32 bits of the register: the number of the fragment and the place in it. A
//! move between registers moves the tag. A wait puts the results where the tags are.

/// The bit of a slot that has a tag.
const TAGGED: u64 = 1 << 63;

/// The contents of the register meanwhile: a NaN.
const ABSENT: u64 = 0x7fff_dead;

/// Accumulators of one product, which the tensor cores hold.
pub(super) struct Fragment {
    pub number: u16,
    /// The registers as the simulator knows them.
    pub registers: Vec<u32>,
    /// The group of the last product that adds to them; none before the first.
    pub group: Option<u64>,
}

/// The accumulators of one thread that the tensor cores hold.
#[derive(Default)]
pub(super) struct Fragments {
    pub held: Vec<Fragment>,
    pub next: u16,
    /// The number of groups that are closed.
    pub groups: u64,
}

/// The tag of a place in a fragment.
pub(super) fn tag(number: u16, place: usize) -> u64 {
    TAGGED | u64::from(number) << 47 | (place as u64) << 32 | ABSENT
}

/// The fragment and the place of a tag.
pub(super) fn of_tag(slot: u64) -> Option<(u16, usize)> {
    let is_tag = slot & TAGGED != 0 && slot & 0xffff_ffff == ABSENT;
    is_tag.then_some(((slot >> 47) as u16, (slot >> 32 & 0x7fff) as usize))
}
