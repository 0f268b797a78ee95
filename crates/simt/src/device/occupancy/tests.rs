use super::{BlockResources, Limiter, Limits};

/// Blocks as an H200 reports them; the file describes the measurement.
const MEASURED: &str = include_str!("../../../tests/measured/occupancy_h200.txt");

fn limits(major: u32, minor: u32) -> Limits {
    Limits::of_compute_capability(major, minor).expect("a known compute capability")
}

/// Blocks, warps, limiter.
fn occupancy(
    limits: Limits,
    threads: u32,
    registers_per_thread: u32,
    shared_bytes: u32,
) -> (u32, u32, Limiter) {
    let occupancy = limits.occupancy(&BlockResources {
        threads,
        registers_per_thread,
        shared_bytes,
    });
    (occupancy.blocks, occupancy.warps, occupancy.limiter)
}

/// By the formulas of NVIDIA's occupancy calculator.
#[test]
fn known_occupancies() {
    use Limiter::{Blocks, Registers, SharedMemory, Warps};
    let cases = [
        ((9, 0), (256, 128, 33 << 10), (2, 16, Registers)),
        ((9, 0), (1024, 32, 0), (2, 64, Warps)),
        ((9, 0), (1024, 33, 0), (1, 32, Registers)),
        ((9, 0), (32, 16, 0), (32, 32, Blocks)),
        ((9, 0), (128, 32, 227 << 10), (1, 4, SharedMemory)),
        ((8, 0), (256, 32, 0), (8, 64, Warps)),
        ((8, 0), (256, 64, 48 << 10), (3, 24, SharedMemory)),
        ((8, 0), (96, 168, 0), (4, 12, Registers)),
        ((8, 6), (256, 40, 0), (6, 48, Warps)),
        ((8, 6), (64, 32, 0), (16, 32, Blocks)),
        ((8, 7), (256, 32, 40 << 10), (4, 32, SharedMemory)),
        ((8, 9), (64, 32, 0), (24, 48, Warps)),
        ((8, 9), (128, 32, 48 << 10), (2, 8, SharedMemory)),
        ((7, 5), (1024, 64, 0), (1, 32, Warps)),
        ((7, 5), (128, 32, 32 << 10), (2, 8, SharedMemory)),
        ((10, 0), (256, 128, 0), (2, 16, Registers)),
        ((12, 0), (512, 40, 0), (3, 48, Warps)),
    ];
    for ((major, minor), (threads, registers, shared), expected) in cases {
        let found = occupancy(limits(major, minor), threads, registers, shared);
        assert_eq!(found, expected, "{major}.{minor}, {threads} threads");
    }
}

#[test]
fn a_quarter_of_the_warps() {
    let occupancy = limits(9, 0).occupancy(&BlockResources {
        threads: 256,
        registers_per_thread: 128,
        shared_bytes: 33 << 10,
    });
    assert_eq!(occupancy.fraction(), 0.25);
    assert_eq!(
        occupancy.to_string(),
        "25 %: 2 blocks with 16 of 64 warps, limited by registers"
    );
}

#[test]
fn what_does_not_fit_has_none() {
    assert_eq!(occupancy(limits(9, 0), 1025, 32, 0), (0, 0, Limiter::Warps));
    assert_eq!(
        occupancy(limits(9, 0), 32, 256, 0),
        (0, 0, Limiter::Registers)
    );
    assert_eq!(
        occupancy(limits(8, 6), 32, 32, 100 << 10),
        (0, 0, Limiter::SharedMemory)
    );
    assert_eq!(
        occupancy(limits(9, 0), 1024, 128, 0),
        (0, 0, Limiter::Registers)
    );
    assert_eq!(Limits::of_compute_capability(3, 0), None);
}

#[test]
fn an_h200_says_the_same() {
    for line in MEASURED.lines().filter(|line| !line.starts_with('#')) {
        let numbers: Vec<u32> = line
            .split_whitespace()
            .map(|number| number.parse().expect("a number"))
            .collect();
        let [registers_per_thread, threads, shared_bytes, blocks] = numbers[..] else {
            panic!("not four numbers: {line}");
        };
        let resources = BlockResources {
            threads,
            registers_per_thread,
            shared_bytes,
        };
        assert_eq!(limits(9, 0).occupancy(&resources).blocks, blocks, "{line}");
    }
}

#[test]
fn wave64_counts_warps_of_64() {
    assert_eq!(
        occupancy(Limits::WAVE64, 256, 32, 0),
        (8, 32, Limiter::Warps)
    );
    // 200 threads are 4 warps.
    assert_eq!(
        occupancy(Limits::WAVE64, 200, 32, 0),
        (8, 32, Limiter::Warps)
    );
}

#[test]
fn best_block_sizes() {
    let best = limits(9, 0)
        .best_block_size(32, 0, 1024)
        .expect("blocks fit");
    assert_eq!((best.threads, best.occupancy.blocks), (1024, 2));
    // Of 1536 threads, 1024 leave a third free; 768 do not.
    let best = limits(8, 6)
        .best_block_size(32, 0, 1024)
        .expect("blocks fit");
    assert_eq!((best.threads, best.occupancy.blocks), (768, 2));
    let best = limits(8, 6)
        .best_block_size(32, 0, 100)
        .expect("blocks fit");
    assert_eq!((best.threads, best.occupancy.blocks), (96, 16));
    assert_eq!(limits(9, 0).best_block_size(256, 0, 1024), None);
}

#[test]
fn best_block_size_where_shared_memory_grows() {
    // 128 bytes for each thread: 1024 threads need 129 KiB, one block of the 228 KiB.
    let best = limits(9, 0)
        .best_block_size_with(32, |threads| 128 * threads, 1024)
        .expect("blocks fit");
    assert_eq!((best.threads, best.occupancy.blocks), (896, 2));
    assert_eq!(best.occupancy.limiter, Limiter::Warps);
}
