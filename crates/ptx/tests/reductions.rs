//! Reductions of whole arrays as PTX return the bits of the same kernels as Rust.

mod common;

use common::{Buffer, Shape, kernel, options, ptx_body, run, rust_body};
use cuda_std::Pod;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;
use half::{bf16, f16};
use simt::Options;
use tilewright_kernels::reduce::{self, BLOCK_THREADS};

/// Memory of one launch: partial results, the ticket and the result.
struct Workspace<A, O> {
    partials: Buffer<A>,
    ticket: Buffer<u32>,
    result: Buffer<O>,
}

impl<A: Pod, O: Pod> Workspace<A, O> {
    fn new(blocks: u32) -> Self {
        Self {
            partials: Buffer::uninitialised(blocks as usize),
            ticket: Buffer::new(&[0]),
            result: Buffer::uninitialised(1),
        }
    }

    fn outcome(&self) -> (Vec<u8>, Vec<u32>) {
        (
            bytemuck::cast_slice(&self.result.values()).to_vec(),
            self.ticket.values(),
        )
    }
}

/// The results of a reduction as PTX and as Rust, for several lengths and numbers of blocks.
fn compare<K, E, A, O>(_kernel: K, element: impl Fn(u32) -> E, options: &Options)
where
    K: for<'launch> Kernel<
        Params<'launch> = (
            Global<'launch, E>,
            GlobalMut<'launch, A>,
            GlobalMut<'launch, u32>,
            GlobalMut<'launch, O>,
        ),
    >,
    E: Pod,
    A: Pod,
    O: Pod,
{
    let as_ptx = kernel(K::NAME, "sm_75");
    for (length, blocks) in [(0, 1), (1, 1), (1000, 1), (5000, 3), (20_011, 4)] {
        let values: Vec<E> = (0..length).map(&element).collect();
        let x = Buffer::new(&values);
        let shape = Shape {
            grid: blocks,
            block: BLOCK_THREADS,
            dynamic_shared_bytes: 0,
        };
        let (ours, theirs) = (
            Workspace::<A, O>::new(blocks),
            Workspace::<A, O>::new(blocks),
        );
        let [x_view, partials] = [x.view(), ours.partials.view()];
        let [ticket, result] = [ours.ticket.view(), ours.result.view()];
        let arguments = [x_view, partials, ticket, result];
        let arguments: Vec<&[u8]> = arguments.iter().flatten().map(|it| it.as_slice()).collect();
        let body = ptx_body(&as_ptx, &arguments);
        run(K::NAME, shape, options, &body).unwrap_or_else(|it| panic!("{it}"));
        let body = rust_body(|| {
            // SAFETY: the buffers outlive the launch, whose threads alone access them; the launch is the kernel's.
            unsafe {
                K::run((
                    Global::from_raw_parts(x.pointer(), x.length()),
                    GlobalMut::from_raw_parts(theirs.partials.pointer(), blocks as usize),
                    GlobalMut::from_raw_parts(theirs.ticket.pointer(), 1),
                    GlobalMut::from_raw_parts(theirs.result.pointer(), 1),
                ));
            }
        });
        run(K::NAME, shape, options, &body).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(ours.outcome(), theirs.outcome(), "{} of {length}", K::NAME);
    }
}

/// Numbers of both signs and several magnitudes, whose sums are rounded.
fn number(index: u32) -> f64 {
    let mixed = index.wrapping_mul(0x9e37_79b9) ^ (index >> 3);
    (f64::from(mixed % 20_001) - 10_000.0) * 2_f64.powi((mixed >> 27) as i32 - 16)
}

#[test]
fn sums_of_floats() {
    compare(reduce::reduce_sum_f32, |it| number(it) as f32, &options());
    compare(reduce::reduce_sum_f64, number, &options());
    compare(
        reduce::reduce_sum_f16,
        |it| f16::from_f64(number(it)),
        &options(),
    );
    compare(
        reduce::reduce_sum_bf16,
        |it| bf16::from_f64(number(it)),
        &options(),
    );
    compare(
        reduce::reduce_sum_f32_unaligned,
        |it| number(it) as f32,
        &options(),
    );
}

#[test]
fn sums_of_integers() {
    compare(reduce::reduce_sum_i32, |it| number(it) as i32, &options());
    compare(reduce::reduce_sum_u64, |it| u64::from(it) << 40, &options());
}

#[test]
fn under_other_schedules() {
    for seed in 1..4 {
        let options = Options { seed, ..options() };
        compare(reduce::reduce_sum_f32, |it| number(it) as f32, &options);
    }
}

#[test]
fn other_reductions() {
    compare(reduce::reduce_max_f32, |it| number(it) as f32, &options());
    compare(reduce::reduce_min_i64, |it| number(it) as i64, &options());
    compare(reduce::reduce_norm_2_f64, number, &options());
    compare(
        reduce::reduce_variance_f32,
        |it| number(it) as f32,
        &options(),
    );
    compare(
        reduce::reduce_argmin_f32,
        |it| number(it) as f32,
        &options(),
    );
    compare(reduce::reduce_product_u32, |it| 2 * it + 1, &options());
    compare(
        reduce::reduce_mean_f16,
        |it| f16::from_f64(number(it)),
        &options(),
    );
}
