//! How long a tiled product of square f32 matrices takes: in this simulator with all checks, with
//! none and with counters, and in the simulator `riri` with its checks. Every answer is checked.
//!
//! `cargo bench --package tilewright-simt --bench tiled_product [-- SIZE ...] [--no-riri]`
//!
//! Times are the best of several launches; `riri`, which takes minutes, launches once, and only
//! for the smallest size. Without `--bench`, which cargo adds, one small launch each is made.

#[path = "../tests/borrowed/mod.rs"]
mod borrowed;

use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;
use riri::{GlobalBuf, LaunchConfig};
use simt::{Contents, Launch, Options};
use std::ptr;
use std::time::Instant;
use tilewright_kernels::matmul::{TILED, matmul_tiled_f32_nn};

/// Rows and columns of a tile of the kernels here: that of `TILED`.
const TILE: usize = 32;

/// Launches of which the fastest counts.
const LAUNCHES: usize = 7;

/// Operands whose product is exact: small integers.
struct Operands {
    size: usize,
    a: Vec<f32>,
    b: Vec<f32>,
    product: Vec<f32>,
}

impl Operands {
    fn new(size: usize) -> Self {
        let a: Vec<f32> = (0..size * size).map(|i| (i % 7) as f32 - 3.0).collect();
        let b: Vec<f32> = (0..size * size).map(|i| (i % 5) as f32 - 2.0).collect();
        let mut product = vec![0.0; size * size];
        for row in 0..size {
            for k in 0..size {
                for column in 0..size {
                    product[row * size + column] += a[row * size + k] * b[k * size + column];
                }
            }
        }
        Self {
            size,
            a,
            b,
            product,
        }
    }

    /// Seconds of the fastest of `launches` launches of the crate's kernel under `options`.
    fn seconds(&self, options: &Options, launches: usize) -> f64 {
        let (size, elements) = (self.size, self.size * self.size);
        let mut c = vec![f32::NAN; elements];
        let (address, bytes) = (
            c.as_mut_ptr().expose_provenance(),
            elements * size_of::<f32>(),
        );
        // SAFETY: the memory outlives the launches. Nothing else touches it.
        unsafe { simt::register_allocation(address, bytes, Contents::Uninitialised) }.unwrap();
        let launch = Launch::new(
            matmul_tiled_f32_nn::NAME,
            TILED.blocks(size, size).expect("a grid"),
            TILED.threads,
            options,
        );
        let run = || {
            let start = Instant::now();
            let body = || {
                let c = ptr::with_exposed_provenance_mut(address);
                // SAFETY: the memory outlives the launches. Nothing else touches it.
                let (a, b, c) = unsafe {
                    (
                        Global::from_raw_parts(self.a.as_ptr(), elements),
                        Global::from_raw_parts(self.b.as_ptr(), elements),
                        GlobalMut::from_raw_parts(c, elements),
                    )
                };
                // SAFETY: the launch is that of `TILED`. The views have the sizes that the
                // kernel asks for.
                unsafe { matmul_tiled_f32_nn::run((a, b, c, size, size, size, size, size, size)) };
            };
            crate::borrowed::run(&launch, &body).expect("the kernel has no defect");
            start.elapsed().as_secs_f64()
        };
        let best = (0..launches).map(|_| run()).fold(f64::INFINITY, f64::min);
        simt::forget_allocation(address, bytes);
        assert_eq!(c, self.product);
        best
    }

    /// Seconds of one launch of the same algorithm, written for `riri`.
    fn riri_seconds(&self) -> f64 {
        let size = self.size;
        let blocks = size.div_ceil(TILE);
        let a = GlobalBuf::new("a", self.a.clone());
        let b = GlobalBuf::new("b", self.b.clone());
        let c = GlobalBuf::<f32>::uninit("c", size * size);
        let config = LaunchConfig::new((blocks * blocks) as u32, (TILE * TILE) as u32);
        let start = Instant::now();
        let report = riri::launch(&config, |t| {
            let a_tile = t.shared::<f32>("a_tile", TILE * TILE);
            let b_tile = t.shared::<f32>("b_tile", TILE * TILE);
            let (block, thread) = (t.block_linear(), t.thread_linear());
            let (tile_row, tile_column) = (thread / TILE, thread % TILE);
            let row = block / blocks * TILE + tile_row;
            let column = block % blocks * TILE + tile_column;
            let mut sum = 0.0_f32;
            for start in (0..size).step_by(TILE) {
                let place = tile_row * TILE + tile_column;
                a_tile.write(t, place, a.read(t, row * size + start + tile_column));
                b_tile.write(t, place, b.read(t, (start + tile_row) * size + column));
                t.sync_threads();
                for i in 0..TILE {
                    let left = a_tile.read(t, tile_row * TILE + i);
                    let right = b_tile.read(t, i * TILE + tile_column);
                    sum = left.mul_add(right, sum);
                }
                t.sync_threads();
            }
            c.write(t, row * size + column, sum);
        });
        let seconds = start.elapsed().as_secs_f64();
        report.assert_clean();
        assert_eq!(c.to_vec(), self.product);
        seconds
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_bench = arguments.iter().any(|argument| argument == "--bench");
    let has_riri = is_bench && arguments.iter().all(|argument| argument != "--no-riri");
    let mut sizes: Vec<usize> = arguments
        .iter()
        .filter(|argument| !argument.starts_with("--"))
        .map(|size| size.parse().expect("a size"))
        .collect();
    if sizes.is_empty() {
        sizes = if is_bench { vec![64, 256] } else { vec![32] };
    }
    assert!(
        sizes.iter().all(|size| size % TILE == 0),
        "sizes are multiples of {TILE}"
    );
    let launches = if is_bench { LAUNCHES } else { 1 };
    println!("  size  all checks   no checks  factor    counters");
    for &size in &sizes {
        let operands = Operands::new(size);
        let timed = |checks, counters| {
            let options = Options {
                checks,
                counters,
                ..Options::default()
            };
            operands.seconds(&options, launches)
        };
        let (checked, unchecked, counted) =
            (timed(true, false), timed(false, false), timed(false, true));
        let factor = checked / unchecked;
        println!("{size:6} {checked:9.4} s {unchecked:9.4} s {factor:7.1} {counted:9.4} s");
        if has_riri && Some(&size) == sizes.iter().min() {
            let riri = operands.riri_seconds();
            let (faster, unchecked) = (riri / checked, riri / unchecked);
            println!(
                "{size:6} {riri:9.4} s in riri: {faster:.0} times as long, {unchecked:.0} times without checks"
            );
        }
    }
}
