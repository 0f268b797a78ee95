use crate::{launch, machines, numbers, output, small_integers, upload, warp_threads};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::{Kernel, ScalarParam};
use cuda_std_test_kernels::warps as kernels;
use half::{bf16, f16};
use std::fmt::Debug;
use tilewright::{Device, Element, LaunchConfig};

/// The value of a place that no lane writes.
const NOTHING: u32 = 99;

/// Bits for the lanes of a warp.
fn all(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

fn is_in(mask: u64, lane: u32) -> bool {
    mask >> lane & 1 == 1
}

/// Which lanes the four shuffles read from, as the PTX ISA has it (9.7.8.6).
fn sources(own: u32, lane: u32, width: u32) -> [u32; 4] {
    let (first, end) = (own / width * width, own / width * width + width);
    let down = if own + lane < end { own + lane } else { own };
    let up = if own >= first + lane { own - lane } else { own };
    let xor = if own ^ lane < end { own ^ lane } else { own };
    [first + lane % width, down, up, xor]
}

/// Masks: all lanes, the lower half, a quarter, every second lane, one lane, all but one.
fn masks(width: u32) -> [u64; 6] {
    let half = width / 2;
    [
        all(width),
        all(half),
        all(half / 2) << half,
        0x5555_5555_5555_5555 & all(width),
        1 << 5,
        all(width) ^ 8,
    ]
}

/// Whether each member reads members alone.
fn is_closed(mask: u64, lane: u32, width: u32, warp: u32) -> bool {
    (0..warp).filter(|&own| is_in(mask, own)).all(|own| {
        sources(own, lane, width)
            .into_iter()
            .all(|source| is_in(mask, source))
    })
}

fn check_shuffles<T, S, W>(segments: S, whole: W, value: fn(u32) -> T)
where
    T: Element + ScalarParam + PartialEq + Debug,
    S: for<'launch> Kernel<
        Params<'launch> = (u64, u32, u32, Global<'launch, T>, GlobalMut<'launch, T>),
    >,
    W: for<'launch> Kernel<Params<'launch> = (u32, Global<'launch, T>, GlobalMut<'launch, T>)>,
{
    for device in machines() {
        let warp = warp_threads(&device);
        let x: Vec<T> = (0..2 * warp).map(value).collect();
        check_whole_shuffles(&device, whole, &x);
        let mut checked = 0;
        for mask in masks(warp) {
            for (lane, width) in [(0, 1), (1, 4), (2, 8), (3, 16), (16, 32), (4, warp)] {
                if is_closed(mask, lane, width, warp) {
                    check_segments(&device, segments, (mask, lane, width), &x, value(NOTHING));
                    checked += 1;
                }
            }
        }
        assert!(checked >= 12, "{checked} masks");
    }
}

fn check_segments<T, K>(
    device: &Device,
    kernel: K,
    (mask, lane, width): (u64, u32, u32),
    x: &[T],
    nothing: T,
) where
    T: Element + ScalarParam + PartialEq + Debug,
    K: for<'launch> Kernel<
        Params<'launch> = (u64, u32, u32, Global<'launch, T>, GlobalMut<'launch, T>),
    >,
{
    let warp = warp_threads(device);
    let mut out = upload(device, &vec![nothing; x.len() * 4]);
    let config = LaunchConfig::new(1, x.len() as u32);
    launch(
        device,
        kernel,
        config,
        (mask, lane, width, &upload(device, x), &mut out),
    );
    let expected: Vec<T> = (0..x.len() as u32)
        .flat_map(|thread| {
            let own = thread % warp;
            let read = |source| x[(thread - own + source) as usize];
            if is_in(mask, own) {
                sources(own, lane, width).map(read)
            } else {
                [nothing; 4]
            }
        })
        .collect();
    assert_eq!(
        out.to_vec().unwrap(),
        expected,
        "mask {mask:#x}, lane {lane}, width {width}"
    );
}

fn check_whole_shuffles<T, K>(device: &Device, kernel: K, x: &[T])
where
    T: Element + ScalarParam + PartialEq + Debug,
    K: for<'launch> Kernel<Params<'launch> = (u32, Global<'launch, T>, GlobalMut<'launch, T>)>,
{
    let warp = warp_threads(device);
    for lane in [0, 1, 2, 5, 16, warp - 1] {
        let mut out = output(device, x.len() * 4);
        let config = LaunchConfig::new(1, x.len() as u32);
        launch(device, kernel, config, (lane, &upload(device, x), &mut out));
        let expected: Vec<T> = (0..x.len() as u32)
            .flat_map(|thread| {
                let own = thread % warp;
                sources(own, lane, warp).map(|source| x[(thread - own + source) as usize])
            })
            .collect();
        assert_eq!(out.to_vec().unwrap(), expected, "lane {lane}");
    }
}

macro_rules! shuffle_tests {
    ($($test:ident: $segments:ident, $whole:ident, $value:expr;)*) => {$(
        #[test]
        fn $test() {
            check_shuffles(kernels::$segments, kernels::$whole, $value);
        }
    )*};
}
shuffle_tests! {
    u8_is_shuffled: shuffles_u8, whole_shuffles_u8, |i| i as u8 + 100;
    i16_is_shuffled: shuffles_i16, whole_shuffles_i16, |i| i as i16 - 64;
    f16_is_shuffled: shuffles_f16, whole_shuffles_f16, |i| f16::from_f32(-0.5 * i as f32);
    bf16_is_shuffled: shuffles_bf16, whole_shuffles_bf16, |i| bf16::from_f32(-2.0 * i as f32);
    i32_is_shuffled: shuffles_i32, whole_shuffles_i32, |i| -(i as i32) << 20;
    f32_is_shuffled: shuffles_f32, whole_shuffles_f32, |i| i as f32 / -3.0;
    u64_is_shuffled: shuffles_u64, whole_shuffles_u64, |i| u64::from(i) << 40 | u64::from(!i);
    f64_is_shuffled: shuffles_f64, whole_shuffles_f64, |i| f64::from(i) / -7.0;
}

#[test]
fn lanes_vote_and_find_their_equals() {
    for device in machines() {
        let warp = warp_threads(&device);
        let x: Vec<u32> = numbers(3)
            .map(|n| (n % 3) as u32 * 0x101)
            .take(2 * warp as usize)
            .collect();
        let constant = vec![0x201; x.len()];
        for x in [&x, &constant] {
            for mask in masks(warp) {
                let mut out = upload(&device, &vec![u64::MAX; x.len() * kernels::VOTES]);
                let config = LaunchConfig::new(1, x.len() as u32);
                launch(
                    &device,
                    kernels::votes,
                    config,
                    (mask, &upload(&device, x), &mut out),
                );
                let expected: Vec<u64> = (0..x.len())
                    .flat_map(|thread| expected_votes(x, thread, mask, warp as usize))
                    .collect();
                assert_eq!(out.to_vec().unwrap(), expected, "mask {mask:#x}");
            }
        }
    }
}

fn expected_votes(x: &[u32], thread: usize, mask: u64, warp: usize) -> [u64; kernels::VOTES] {
    let (first, own) = (thread / warp * warp, thread % warp);
    if !is_in(mask, own as u32) {
        return [u64::MAX; kernels::VOTES];
    }
    let lanes = |belongs: &dyn Fn(u32) -> bool| -> u64 {
        (0..warp)
            .filter(|&lane| is_in(mask, lane as u32) && belongs(x[first + lane]))
            .map(|lane| 1 << lane)
            .sum()
    };
    let votes = lanes(&|value| value != 0);
    let equal = lanes(&|value| value == x[thread]);
    let same_byte = lanes(&|value| value as u8 == x[thread] as u8);
    [
        votes,
        u64::from(votes != 0),
        u64::from(votes == mask),
        equal,
        equal,
        same_byte,
    ]
}

#[test]
fn masks_have_the_bits_of_their_lanes() {
    for device in machines() {
        let warp = warp_threads(&device);
        let mut out = output::<u64>(&device, 70 * kernels::MASKS);
        launch(
            &device,
            kernels::masks,
            LaunchConfig::new(1, 70),
            (&mut out,),
        );
        let expected = [all(warp), 0b1_1111, u64::MAX, 3, 1, u64::from(warp)];
        assert_eq!(out.to_vec().unwrap(), expected.repeat(70));
    }
}

fn check_reductions<T, K>(kernel: K, from: fn(i32) -> T)
where
    T: Element + ScalarParam + PartialEq + Debug,
    K: for<'launch> Kernel<Params<'launch> = (Global<'launch, T>, GlobalMut<'launch, T>)>,
{
    for device in machines() {
        let warp = warp_threads(&device) as usize;
        let integers = small_integers(5, 2 * 3 * warp);
        let x: Vec<T> = integers.iter().copied().map(from).collect();
        let mut out = output::<T>(&device, x.len() * 2);
        let config = LaunchConfig::new(2, 3 * warp as u32);
        launch(&device, kernel, config, (&upload(&device, &x), &mut out));
        let expected: Vec<T> = integers
            .chunks(warp)
            .flat_map(|lanes| {
                [lanes.iter().sum(), *lanes.iter().max().unwrap()]
                    .map(from)
                    .repeat(warp)
            })
            .collect();
        assert_eq!(out.to_vec().unwrap(), expected);
    }
}

#[test]
fn warps_reduce() {
    check_reductions(kernels::warp_reduce_i32, |i| i);
    check_reductions(kernels::warp_reduce_f32, |i| i as f32);
    check_reductions(kernels::warp_reduce_i64, |i| i64::from(i) << 33);
    check_reductions(kernels::warp_reduce_f64, f64::from);
}

#[test]
fn members_of_any_mask_reduce() {
    for device in machines() {
        let warp = warp_threads(&device);
        let x: Vec<u32> = numbers(7)
            .map(|n| n as u32)
            .take(2 * warp as usize)
            .collect();
        for mask in masks(warp) {
            let mut out = upload(&device, &vec![NOTHING; x.len() * 3]);
            let config = LaunchConfig::new(1, x.len() as u32);
            launch(
                &device,
                kernels::member_reductions,
                config,
                (mask, &upload(&device, &x), &mut out),
            );
            let expected: Vec<u32> = x
                .chunks(warp as usize)
                .flat_map(|lanes| expected_reductions(lanes, mask))
                .collect();
            assert_eq!(out.to_vec().unwrap(), expected, "mask {mask:#x}");
        }
    }
}

fn expected_reductions(lanes: &[u32], mask: u64) -> Vec<u32> {
    let is_member = |lane: usize| is_in(mask, lane as u32);
    let members = || {
        (0..lanes.len())
            .filter(|&lane| is_member(lane))
            .map(|lane| lanes[lane])
    };
    let sum = members().fold(0, u32::wrapping_add);
    let polynomial = members()
        .reduce(|a, b| a.wrapping_mul(31).wrapping_add(b))
        .unwrap();
    let of_lane = |lane| {
        if is_member(lane) {
            [sum, sum, polynomial]
        } else {
            [NOTHING; 3]
        }
    };
    (0..lanes.len()).flat_map(of_lane).collect()
}

#[test]
fn a_warps_barrier_orders_shared_memory() {
    for device in machines() {
        let warp = warp_threads(&device) as usize;
        let mut out = output::<u32>(&device, 4 * warp);
        launch(
            &device,
            kernels::warp_exchange,
            LaunchConfig::new(1, 4 * warp as u32),
            (&mut out,),
        );
        let expected: Vec<u32> = (0..4 * warp)
            .map(|own| (own / warp * warp + (own + 1) % warp) as u32 * 3)
            .collect();
        assert_eq!(out.to_vec().unwrap(), expected);
    }
}
