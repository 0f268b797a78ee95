//! A whole matrix product, in the way of the fastest kernels: a producer fills a ring of stages, half of B by
//! multicast, and two warpgroups multiply.
//!
//! The seeds are fixed, whatever `TILEWRIGHT_SEEDS` says: these are tests of the simulator, not of a kernel.

use crate::harness::{Buffer, launch_with, me, serial, shared};
use crate::products::{bf16, descriptor, matrix};
use simt::{DefectKind, ElementType, Major, Operand, Options, Report, Swizzle, TensorMap, Wgmma};

/// Rows and columns of a block's tile, and of k in a stage.
const M: usize = 128;
const N: usize = 256;
const K: usize = 64;
const STAGES: usize = 4;
const A_BYTES: usize = 2 * M * K;
const B_BYTES: usize = 2 * N * K;
const STAGE: usize = A_BYTES + B_BYTES;
const BARRIERS: usize = STAGE * STAGES;
const SHARED_BYTES: usize = BARRIERS + 16 * STAGES;
/// Blocks of a cluster, and warpgroups that multiply in each.
const BLOCKS: usize = 2;
const CONSUMERS: usize = 2;

const INSTRUCTION: Wgmma = Wgmma {
    a: ElementType::Bf16,
    b: ElementType::Bf16,
    n: N as u32,
    a_major: Major::K,
    b_major: Major::K,
};

/// A, a column-major B, and C of C = A B.
struct Problem {
    k: usize,
    a: Vec<i32>,
    b: Vec<i32>,
    map_a: TensorMap,
    map_b: TensorMap,
    _operands: [Buffer<u16>; 2],
    c: Buffer<f32>,
}

impl Problem {
    fn new(m: usize, k: usize) -> Self {
        let (a, b) = (matrix(m, k, 1), matrix(N, k, 2));
        let bits = |values: &[i32]| Buffer::of(values.iter().map(|it| bf16(*it)).collect());
        let (of_a, of_b) = (bits(&a), bits(&b));
        Self {
            k,
            map_a: of_a.map(k, (K as u32, M as u32), Swizzle::B128),
            map_b: of_b.map(k, (K as u32, (N / BLOCKS) as u32), Swizzle::B128),
            a,
            b,
            _operands: [of_a, of_b],
            c: Buffer::empty(m * N),
        }
    }

    fn check(&self) {
        for (index, value) in self.c.values().iter().enumerate() {
            let row = &self.a[index / N * self.k..][..self.k];
            let column = &self.b[index % N * self.k..][..self.k];
            let sum: i32 = row.iter().zip(column).map(|(a, b)| a * b).sum();
            assert_eq!(*value, sum as f32, "element {index}");
        }
    }
}

fn full(stage: usize) -> usize {
    shared(BARRIERS + 8 * stage).addr()
}

fn empty(stage: usize) -> usize {
    shared(BARRIERS + 8 * (STAGES + stage)).addr()
}

/// The defects of the kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    Right,
    /// A stage is released when its group has been issued, not when the group is complete.
    ReleasedTooEarly,
    /// A stage is released only in the thread's own block.
    ReleasedHereAlone,
}

fn produce(problem: &Problem) {
    simt::set_max_registers(40, false);
    if me() != 0 {
        return;
    }
    let rank = simt::cluster_rank() as usize;
    let row = simt::position().block_idx.x as usize * M;
    for step in 0..problem.k / K {
        let (stage, parity) = (step % STAGES, step / STAGES % 2 == 1);
        simt::mbarrier_wait(empty(stage), !parity);
        simt::mbarrier_arrive_expect(full(stage), STAGE as u32);
        let (at, k) = (STAGE * stage, (K * step) as i32);
        let half = rank * N / BLOCKS;
        let of_b = shared(at + A_BYTES + half * 2 * K);
        // SAFETY: the operands outlive the launch.
        unsafe {
            simt::tensor_load(
                &problem.map_a,
                shared(at),
                full(stage),
                &[k, row as i32],
                None,
            );
            simt::tensor_load(
                &problem.map_b,
                of_b,
                full(stage),
                &[k, half as i32],
                Some(3),
            );
        }
    }
}

fn release(stage: usize, variant: Variant) {
    let rank = me() % 128;
    let own = simt::cluster_rank();
    if rank < BLOCKS as u32 {
        let to = match variant {
            Variant::ReleasedHereAlone => own,
            _ => rank,
        };
        simt::mbarrier_arrive(simt::map_shared(empty(stage), to));
    }
}

fn consume(problem: &Problem, variant: Variant) {
    simt::set_max_registers(232, true);
    let group = me() as usize / 128 - 1;
    let mut registers = [0; N / 2];
    let steps = problem.k / K;
    for step in 0..steps {
        let (stage, parity) = (step % STAGES, step / STAGES % 2 == 1);
        simt::mbarrier_wait(full(stage), parity);
        let (a, b) = (STAGE * stage + group * 64 * 2 * K, STAGE * stage + A_BYTES);
        simt::wgmma_begin(&mut registers);
        simt::wgmma_fence();
        for k in 0..K / 16 {
            let operand = |tile, bytes| Operand {
                descriptor: descriptor(tile + 32 * k, 16, 1024),
                tile: shared(tile).addr(),
                bytes,
            };
            let (a, b) = (operand(a, A_BYTES / 2), operand(b, B_BYTES));
            simt::wgmma(&mut registers, INSTRUCTION, a, b, step + k != 0);
        }
        simt::wgmma_commit();
        if variant == Variant::ReleasedTooEarly {
            release(stage, variant);
        }
        if step > 0 {
            simt::wgmma_wait(1);
            if variant != Variant::ReleasedTooEarly {
                release((step - 1) % STAGES, variant);
            }
        }
    }
    simt::wgmma_wait(0);
    simt::wgmma_collect(&mut registers);
    let thread = me() as usize % 128;
    let first = simt::position().block_idx.x as usize * M + group * 64;
    for (index, value) in registers.iter().enumerate() {
        let row = first + thread / 32 * 16 + thread % 32 / 4 + index / 2 % 2 * 8;
        let column = index / 4 * 8 + thread % 4 * 2 + index % 2;
        problem.c.set(row * N + column, f32::from_bits(*value));
    }
}

fn run(
    options: &Options,
    problem: &Problem,
    variant: Variant,
) -> Result<Report, Box<simt::Defect>> {
    let blocks = (problem.c.values().len() / N / M) as u32;
    let shape = (blocks, BLOCKS as u32, 128 * (1 + CONSUMERS as u32));
    launch_with(options, shape, SHARED_BYTES, &|| {
        if me() == 0 {
            for stage in 0..STAGES {
                simt::mbarrier_init(full(stage), 1);
                simt::mbarrier_init(empty(stage), (CONSUMERS * BLOCKS) as u32);
            }
            simt::fence_mbarrier_init();
        }
        simt::cluster_barrier();
        match me() / 128 {
            0 => produce(problem),
            _ => consume(problem, variant),
        }
        simt::cluster_barrier();
    })
}

#[test]
fn a_product_of_matrices() {
    for seed in 0..4 {
        let problem = Problem::new(2 * M, 512);
        run(&serial(seed), &problem, Variant::Right).unwrap();
        problem.check();
    }
}

/// With clusters on several host threads.
#[test]
fn a_product_of_several_clusters() {
    let problem = Problem::new(4 * M, 256);
    let options = Options {
        parallel_blocks: true,
        ..serial(1)
    };
    run(&options, &problem, Variant::Right).unwrap();
    problem.check();
}

#[test]
fn stages_that_are_released_wrongly() {
    for (variant, words) in [
        (Variant::ReleasedTooEarly, "a product of warp"),
        (Variant::ReleasedHereAlone, "a bulk copy writes"),
    ] {
        let problem = Problem::new(2 * M, 512);
        let found = run(&serial(0), &problem, variant).unwrap_err();
        assert_eq!(found.kind, DefectKind::AsyncHazard, "{found}");
        assert!(found.message.contains(words), "{found}");
    }
}
