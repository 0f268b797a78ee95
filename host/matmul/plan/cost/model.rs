//! A model of a product's time, from published figures, for devices on which no kernel was measured.
//!
//! Each multiprocessor computes its tiles in rounds of as many as fit. For each k, a round takes as long as its slowest
//! part: multiply-adds, instructions, shared memory or the second-level cache. At each stage its blocks wait for a
//! barrier and for shared memory, so blocks that share a multiprocessor share the wait. Device memory and the launch are
//! left out: all tiles read the same matrices and write the same outputs, so neither changes which tile is fastest.
//!
//! With the figures of an H200, it selects tiles that were measured to take at most 1.03 times as long as the fastest
//! ones, and 1.16 in one product (`docs/notebook/products.md`).

use crate::matmul::kernel::{GemmKernel, Method, TileSize};
use crate::matmul::plan::problem::{DeviceFacts, Problem};
use crate::matmul::plan::reason::SelectionReason;
use crate::matmul::table::kernels_of;
use crate::matmul::types::ElementType;
use simt::occupancy::{BlockResources, Limits};
use tilewright_kernels::matmul::BlockTile;

/// The rates of a multiprocessor, per clock.
///
/// | figure | source |
/// |---|---|
/// | tensor cores | peaks, over multiprocessors and boost clock, of the white papers "NVIDIA A100 Tensor Core GPU Architecture", "NVIDIA Ampere GA102 GPU Architecture", "NVIDIA Ada GPU Architecture", "NVIDIA RTX Blackwell GPU Architecture", "NVIDIA Jetson AGX Orin Series, Technical Brief", and of the datasheets of A10, L40S and RTX PRO 6000 |
/// | tensor cores of 9.0 and 10.0 | not published for `mma.sync`: those of 8.0. `matmul_mma_*` reached two thirds of it on an H200 |
/// | f32, f64 | CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions" |
/// | cache | measured by others: github.com/te42kyfo/gpu-benches, `gpu-cache` and `gpu-l2-cache`, in TB/s: A100 5.4, A40 2.43, L40 5.2, H200 9.7. 8.7, 10.0 and 12.0 have those of 8.6, 9.0 and 8.9 |
#[derive(Clone, Copy)]
pub struct Rates {
    /// Multiply-adds of f16 and bf16 with sums in f32, of GeForce and of other cards: GeForce has half the rate.
    pub halves: [u32; 2],
    /// Multiply-adds of i8 on tensor cores.
    pub i8: u32,
    pub f32: u32,
    pub f64: u32,
    /// Bytes from the second-level cache, if all multiprocessors read.
    pub cache: u32,
}

impl Rates {
    /// The rates of a compute capability, if they are known.
    pub const fn of((major, minor): (u32, u32)) -> Option<Self> {
        let of_geforce = Self {
            halves: [256, 512],
            i8: 1024,
            f32: 128,
            f64: 2,
            cache: 15,
        };
        let of_a100 = Self {
            halves: [1024; 2],
            i8: 2048,
            f32: 64,
            f64: 32,
            cache: 35,
        };
        Some(match (major, minor) {
            (8, 0) => of_a100,
            (8, 6) => Self {
                cache: 17,
                ..of_geforce
            },
            (8, 7) => Self {
                f32: 128,
                f64: 2,
                cache: 17,
                ..of_a100
            },
            (8, 9) | (12, _) => of_geforce,
            (9, 0) | (10, _) => Self {
                f32: 128,
                f64: 64,
                cache: 37,
                ..of_a100
            },
            _ => return None,
        })
    }
}

/// Bytes that a multiprocessor reads from shared memory, or writes to it, in a clock: 32 banks of 4 bytes.
const SHARED_BYTES: usize = 128;

/// Clocks that blocks wait at each stage, of kernels on tensor cores and on CUDA cores.
///
/// From measurements on an H200: with them, the model's times have the ratios of those measured at 1024 to 8192, for
/// warp-level products of bf16 and i8, and for chains of f32.
const WAIT_OF_WARPS: f64 = 500.0;
const WAIT_OF_CHAINS: f64 = 200.0;

/// The resources of its multiprocessor that a block uses.
struct Work {
    /// Multiply-adds for each k and output.
    products: usize,
    /// Instructions of its threads for each k, on CUDA cores: multiply-adds, and reads of 16 bytes.
    instructions: usize,
    /// Elements that its warps read from shared memory for each k. Reads of 16 bytes by CUDA cores take two passes
    /// (`kernels/matmul/register_tile.rs`).
    read: usize,
    /// Bytes of an element in shared memory, or of both values of a split one.
    bytes: usize,
    /// The k of a stage.
    depth: usize,
    /// Static shared memory.
    static_bytes: usize,
    wait: f64,
}

impl Work {
    /// The work of a kernel that is modelled.
    fn of(kernel: &GemmKernel) -> Option<Self> {
        let bytes = kernel.element.bytes();
        let tile = &kernel.descriptor.tile;
        let of_warps = |products, read| Self {
            products,
            instructions: 0,
            read,
            bytes,
            depth: 64 / bytes,
            static_bytes: 0,
            wait: WAIT_OF_WARPS,
        };
        let of_split = |read| Self {
            depth: 32,
            ..of_warps(3, read)
        };
        // Lines are rows and columns of a thread.
        let of_chains = |lines: usize, depth, stages| Self {
            products: 1,
            instructions: tile.rows * tile.columns + tile.threads as usize * lines * bytes / 16,
            read: tile.threads as usize * lines / 2,
            bytes,
            depth,
            // Rows of k, padded by 16 bytes at most.
            static_bytes: stages * depth * ((tile.rows + tile.columns) * bytes + 2 * 16),
            wait: WAIT_OF_CHAINS,
        };
        Some(match (kernel.method, kernel.element) {
            (Method::Mma(TileSize::Large), _) => of_warps(1, 4 * (64 + 64)),
            (Method::Mma(TileSize::Small), _) => of_warps(1, 4 * (16 + 64)),
            (Method::SplitMma(TileSize::Large), _) => of_split(4 * (32 + 64)),
            (Method::SplitMma(TileSize::Small), _) => of_split(4 * (16 + 64)),
            (Method::Coarsened(TileSize::Small), ElementType::F32) => of_chains(4 + 4, 16, 4),
            (Method::Coarsened(TileSize::Medium), ElementType::F32) => of_chains(8 + 4, 16, 3),
            (Method::Coarsened(TileSize::Large), ElementType::F32) => of_chains(8 + 8, 16, 2),
            (Method::Coarsened(TileSize::Small), ElementType::F64) => of_chains(4 + 4, 8, 2),
            (Method::Coarsened(TileSize::Large), ElementType::F64) => of_chains(8 + 4, 8, 2),
            _ => return None,
        })
    }
}

/// A multiprocessor of a modelled device.
pub struct Multiprocessor {
    pub rates: Rates,
    pub limits: Limits,
}

impl Multiprocessor {
    /// A multiprocessor of a compute capability, if its figures are known.
    pub fn of(capability: (u32, u32)) -> Option<Self> {
        let (major, minor) = capability;
        // Later members of these families have the same limits.
        let minor = if major >= 10 { 0 } else { minor };
        Some(Self {
            rates: Rates::of(capability)?,
            limits: Limits::of_compute_capability(major, minor)?,
        })
    }

    /// The blocks of a kernel that it holds at once: as many as the kernel's launch bounds leave registers for, if they
    /// have shared memory.
    pub fn resident(&self, kernel: &GemmKernel, static_bytes: usize) -> u32 {
        let threads = kernel.descriptor.tile.threads;
        // A multiple of 8, as they are allocated.
        let registers = self.limits.registers / (threads * kernel.resident) / 8 * 8;
        let block = BlockResources {
            threads,
            registers_per_thread: registers.min(self.limits.registers_per_thread),
            shared_bytes: (kernel.descriptor.dynamic_shared_bytes + static_bytes) as u32,
        };
        self.limits.occupancy(&block).blocks
    }

    /// The clocks in which it computes `tiles` tiles with this K; `None` if the kernel is not modelled, or no block fits.
    pub fn time(&self, kernel: &GemmKernel, tiles: u64, k: usize) -> Option<u64> {
        let work = Work::of(kernel)?;
        let resident = u64::from(self.resident(kernel, work.static_bytes));
        let rounds = tiles.div_ceil((resident > 0).then_some(resident)?);
        let tile = &kernel.descriptor.tile;
        let copied = (tile.rows + tile.columns) * work.bytes;
        let products = tile.rows * tile.columns * work.products;
        let of_k = [
            products as f64 / self.products_in_clock(kernel),
            work.instructions as f64 / f64::from(self.limits.partitions * self.limits.warp_lanes),
            (work.read * work.bytes + copied) as f64 / SHARED_BYTES as f64,
            copied as f64 / f64::from(self.rates.cache),
        ];
        let of_k = of_k.into_iter().fold(0.0, f64::max);
        // The first stage is waited for, too.
        let stages = k.div_ceil(work.depth) + 1;
        let time = tiles as f64 * of_k * k as f64 + rounds as f64 * work.wait * stages as f64;
        Some(time as u64)
    }

    /// The multiply-adds of a kernel in a clock. No attribute of the driver says whether a device is a GeForce: the mean
    /// of both rates selects tiles that are at most 1.3 times as slow as the fastest on either.
    fn products_in_clock(&self, kernel: &GemmKernel) -> f64 {
        let Rates { halves, i8, .. } = self.rates;
        match (kernel.method, kernel.element) {
            (Method::Mma(_), ElementType::I8) => f64::from(i8),
            (Method::Mma(_) | Method::SplitMma(_), _) => {
                let [geforce, other] = halves.map(f64::from);
                (geforce * other).sqrt()
            }
            (_, ElementType::F64) => f64::from(self.rates.f64),
            _ => f64::from(self.rates.f32),
        }
    }
}

/// The rounds of blocks of all products, if each multiprocessor holds `resident` at a time.
pub fn rounds_of_blocks(
    problem: &Problem,
    device: DeviceFacts,
    tile: &BlockTile,
    resident: u64,
) -> u64 {
    let resident = (u64::from(device.multiprocessors) * resident).max(1);
    let blocks = problem.blocks(tile).map_or(u64::MAX, u64::from);
    blocks
        .saturating_mul(problem.batch as u64)
        .div_ceil(resident)
}

/// The size whose tiles take the shortest time by the model, of equally fast ones the first; `None` if the device is
/// not modelled. Those of compute capability 9.0 are not, because its rounds were measured.
pub fn modelled(
    method: fn(TileSize) -> Method,
    sizes: &[TileSize],
    problem: &Problem,
    device: DeviceFacts,
) -> Option<(Method, SelectionReason)> {
    let capability = device.compute_capability.filter(|&it| it != (9, 0))?;
    let multiprocessor = Multiprocessor::of(capability)?;
    let kernel = |size| kernels_of(method(size), problem.element, problem.output).first();
    let rounds = |size| {
        let kernel = kernel(size)?;
        Some(rounds_of_blocks(
            problem,
            device,
            &kernel.descriptor.tile,
            1,
        ))
    };
    let time = |size| multiprocessor.time(kernel(size)?, rounds(size)?, problem.k);
    let timed = sizes.iter().filter_map(|&size| Some((size, time(size)?)));
    let (fastest, _) = timed.min_by_key(|&(_, time)| time)?;
    let reason = SelectionReason::Rounds {
        small: rounds(TileSize::Small)?,
        medium: match sizes.contains(&TileSize::Medium) {
            true => rounds(TileSize::Medium),
            false => None,
        },
        large: rounds(TileSize::Large)?,
    };
    Some((method(fastest), reason))
}
