//! Random programs.

use crate::program::{Access, COPY, Elements, Exit, Loop, PLACES, Place, Program, Step};
use proptest::prelude::*;
use simt::{AccessKind, Space};

/// Lanes of the widest warp.
const LANES: usize = 64;

/// Programs whose threads all run to the end.
pub fn without_exits() -> impl Strategy<Value = Program> {
    let meeting = prop_oneof![
        Just(Step::BlockBarrier),
        Just(Step::WarpBarrier(u64::MAX)),
        masks().prop_map(Step::WarpBarrier),
    ];
    let steps = prop::collection::vec(prop_oneof![4 => step(), 1 => meeting], 1..8);
    (launch(), places(), steps).prop_map(|(launch, places, mut steps)| {
        // No lane exits before the last meeting, even if no barrier names it.
        steps.push(Step::BlockBarrier);
        program(launch, places, Vec::new(), steps)
    })
}

/// Programs in which some lanes return before others.
pub fn with_exits() -> impl Strategy<Value = Program> {
    let exit = (masks(), 0..6_usize).prop_map(|(lanes, before)| Exit { lanes, before });
    let step = prop_oneof![3 => step(), 1 => Just(Step::WarpBarrier(u64::MAX))];
    let steps = prop::collection::vec(step, 1..8);
    let exits = prop::collection::vec(exit, 1..3);
    (launch(), places(), exits, steps)
        .prop_map(|(launch, places, exits, steps)| program(launch, places, exits, steps))
}

/// Width of a warp, blocks and threads of a block.
type Extent = (u32, u32, u32);

fn launch() -> impl Strategy<Value = Extent> {
    let threads = prop_oneof![Just(32_u32), Just(64), 1..130_u32];
    (prop_oneof![Just(32_u32), Just(64)], 1..3_u32, threads)
}

fn program(
    (warp_width, blocks, threads): Extent,
    places: [Place; PLACES],
    exits: Vec<Exit>,
    steps: Vec<Step>,
) -> Program {
    Program {
        warp_width,
        blocks,
        threads,
        places,
        exits,
        steps,
    }
}

fn places() -> impl Strategy<Value = [Place; PLACES]> {
    let copy = prop::sample::select(vec![4_usize, 8, 16]).prop_map(|bytes| Place {
        space: Space::Shared,
        kind: AccessKind::AsyncWrite,
        bytes,
    });
    (place(), place(), place(), copy).prop_map(|(a, b, c, copy)| [a, b, c, copy])
}

fn place() -> impl Strategy<Value = Place> {
    use AccessKind::{Atomic, AtomicRead, AtomicWrite, Read, Write};
    let space = prop::sample::select(vec![Space::Global, Space::Shared]);
    let plain = (
        prop_oneof![2 => Just(Read), 1 => Just(Write)],
        prop::sample::select(vec![1_usize, 2, 4, 8, 8, 16, 16]),
    );
    let atomic = (
        prop::sample::select(vec![Atomic, AtomicRead, AtomicWrite]),
        prop::sample::select(vec![4_usize, 8]),
    );
    let access = prop_oneof![3 => plain, 1 => atomic];
    (space, access).prop_map(|(space, (kind, bytes))| Place { space, kind, bytes })
}

/// Accesses, and loops of them, nested up to twice.
fn step() -> impl Strategy<Value = Step> {
    let access = access().prop_map(Step::Access);
    access.prop_recursive(2, 8, 3, |body| {
        let body = prop::collection::vec(body, 1..4);
        let shape = (0..2_usize, any::<bool>(), 0..4_u32, 1..4_u32);
        (shape, body).prop_map(|((place, is_marked, rounds, leave_out), body)| {
            Step::Loop(Loop {
                place,
                is_marked,
                rounds,
                leave_out,
                body,
            })
        })
    })
}

fn access() -> impl Strategy<Value = Access> {
    let place = 0..=COPY;
    let zeros = prop_oneof![Just(0), masks()];
    let parts = (place, 0..2_usize, masks(), zeros, elements(), any::<bool>());
    parts.prop_map(|(place, view, active, zeros, elements, is_packed)| Access {
        place,
        view,
        active,
        zeros,
        elements,
        is_packed,
    })
}

/// Lanes: all, half or few of them, contiguous or spread.
fn masks() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => Just(u64::MAX),
        2 => any::<u64>(),
        1 => (any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(a, b, c)| a & b & c),
        1 => (0..64_u32).prop_map(|lanes| (1 << lanes) - 1),
        1 => (0..8_u32).prop_map(|eighth| 0xff << (8 * eighth)),
        1 => prop::sample::select(vec![u64::MAX / 3, u64::MAX / 5, u64::MAX / 17]),
    ]
}

/// An element for each lane: in a regular pattern, or shared with neighbours. One lane may deviate.
fn elements() -> impl Strategy<Value = Elements> {
    let strides = prop::sample::select(vec![0_usize, 1, 2, 3, 4, 8, 16, 32, 33]);
    let regular = strides.prop_map(|stride| (0..LANES).map(|lane| lane * stride).collect());
    let count = prop::sample::select(vec![4_usize, 16, 64, 1024]);
    let random = count.prop_flat_map(|count| prop::collection::vec(0..count, LANES));
    let elements = prop_oneof![1 => regular, 2 => random];
    let shared_bits = prop::sample::select(vec![0_usize, 0, 1, 1, 2, 2, 3, 4, 7, 31]);
    let stray = prop::option::weighted(0.25, (0..LANES, 0..1024_usize));
    (elements, shared_bits, stray).prop_map(|(elements, bits, stray): (Vec<usize>, _, _)| {
        let first = |lane: usize| elements[lane & !bits];
        let mut shared: Vec<usize> = (0..LANES).map(first).collect();
        if let Some((lane, element)) = stray {
            shared[lane] = element;
        }
        Elements(shared)
    })
}
