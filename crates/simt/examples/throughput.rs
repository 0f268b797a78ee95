//! How fast the simulator is on this machine: one line per kind of instruction.
//!
//! `cargo run --release --package tilewright-simt --example throughput [threads per block]`

#[path = "../tests/borrowed/mod.rs"]
mod borrowed;

use simt::{AccessKind, BarrierId, Launch, Options, Space};
use std::hint::black_box;
use std::time::Instant;

/// Threads of a block: from the command line, or 256.
fn block_threads() -> u32 {
    let argument = std::env::args().nth(1);
    argument.map_or(256, |threads| threads.parse().expect("threads per block"))
}

/// Runs `blocks` blocks one by one and prints the cost of one of the
/// `operations` that each thread does.
fn measure(name: &str, blocks: u32, operations: u32, body: impl Fn() + Sync) {
    let threads = block_threads();
    let options = Options {
        parallel_blocks: false,
        ..Options::default()
    };
    let launch = Launch::new(name, blocks, threads, &options);
    let run = || crate::borrowed::run(&launch, &body).expect("the kernel has no defect");
    run();
    let start = Instant::now();
    run();
    let seconds = start.elapsed().as_secs_f64();
    let count = f64::from(blocks) * f64::from(threads) * f64::from(operations);
    println!(
        "{name:32} {:8.1} ns each, {:8.1} million per second and worker",
        seconds / count * 1e9,
        count / seconds / 1e6
    );
}

fn main() {
    let data = vec![1.0_f32; 1 << 20];
    let base = data.as_ptr();
    let bytes = data.len() * 4;
    let address = base.addr();
    measure("thread that only exits", 4000, 1, || {});
    measure("position", 400, 1000, || {
        for _ in 0..1000 {
            black_box(simt::position().thread_idx.x);
        }
    });
    measure("checked relaxed load of an f32", 400, 1000, || {
        let at = simt::position();
        let first = (at.block_idx.x * at.block_dim.x + at.thread_idx.x) as usize;
        let mut sum = 0.0;
        for step in 0..1000 {
            let offset = (first + step * 256) % (1 << 20) * 4;
            // SAFETY: the memory is not registered.
            unsafe {
                simt::access(
                    Space::Global,
                    AccessKind::Read,
                    address,
                    bytes,
                    offset,
                    4,
                    4,
                )
            };
            // SAFETY: the access has been checked, and no thread writes.
            sum += unsafe { simt::load_relaxed((address as *const u8).add(offset).cast::<f32>()) };
        }
        black_box(sum);
    });
    measure("block barrier (per thread)", 100, 100, || {
        for _ in 0..100 {
            simt::block_barrier(BarrierId(0), None);
        }
    });
    measure("warp shuffle (per lane)", 100, 100, || {
        let lane = simt::position().lane as usize;
        for step in 0..100 {
            black_box(crate::borrowed::warp_collective(
                "shuffle",
                0xffff_ffff,
                step,
                |lanes| lanes.values[lane ^ 1],
            ));
        }
    });
    measure("yield", 100, 100, || {
        (0..100).for_each(|_| simt::yield_now())
    });
}
