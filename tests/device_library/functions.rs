use crate::{launch, machines, numbers, output, simulators, upload};
use cuda_std::math;
use cuda_std_test_kernels::functions as kernels;
use half::{bf16, f16};
use tilewright::{Device, LaunchConfig};

/// Threads of a block.
const THREADS: u32 = 256;

/// Every 65 521st value of f32, of all signs and magnitudes, NaN among them, and special values.
fn singles() -> Vec<f32> {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::from_bits(1),
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        -f32::NAN,
    ];
    let spread = (0..=u32::MAX).step_by(65_521).map(f32::from_bits);
    special.into_iter().chain(spread).collect()
}

/// Numbers of all signs and magnitudes, those around zero, and special values.
fn doubles() -> Vec<f64> {
    let special = [
        0.0,
        -0.0,
        f64::from_bits(1),
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        -f64::NAN,
    ];
    let any = numbers(1).map(f64::from_bits).take(20_000);
    let near = numbers(2)
        .map(|bits| bits as i64 as f64 / 1e18)
        .take(20_000);
    let middle = numbers(3)
        .map(|bits| bits as i64 as f64 / 1e16)
        .take(20_000);
    special
        .into_iter()
        .chain(any)
        .chain(near)
        .chain(middle)
        .collect()
}

fn halves() -> Vec<f16> {
    (0..=u16::MAX).map(f16::from_bits).collect()
}

fn brains() -> Vec<bf16> {
    (0..=u16::MAX).map(bf16::from_bits).collect()
}

/// Each machine, and its arguments: all for the first simulator and for machines that run PTX; for each other simulator
/// every n-th, with a different start. A thread of these kernels sees nothing of other threads.
fn machines_with_shares() -> impl Iterator<Item = (Device, Vec<bool>)> {
    const SHARES: usize = 7;
    let sharing = 1..simulators().len();
    machines()
        .into_iter()
        .enumerate()
        .map(move |(number, device)| {
            let is_whole = !sharing.contains(&number);
            let takes = (0..SHARES).map(|place| is_whole || place == number % SHARES);
            (device, takes.collect())
        })
}

/// A machine's share of some arguments.
fn taken<T: Copy>(all: &[T], takes: &[bool]) -> Vec<T> {
    let taken = all.iter().zip(takes.iter().cycle());
    taken
        .filter(|(_, is_taken)| **is_taken)
        .map(|(it, _)| *it)
        .collect()
}

macro_rules! functions_of_one_number {
    ($($name:ident: $($function:ident)::+, $inputs:ident;)*) => {
        const OF_ONE: &[&str] = &[$(stringify!($name)),*];
        $(
        /// Each machine has the bits of the host, whose errors `crates/cuda_std/tests/math` measures.
        #[test]
        fn $name() {
            let all = $inputs();
            for (device, takes) in machines_with_shares() {
                let x = taken(&all, &takes);
                let config = LaunchConfig::for_elements(x.len(), THREADS);
                let mut out = output(&device, x.len());
                launch(&device, kernels::$name, config, (&upload(&device, &x), &mut out));
                for (&x, result) in x.iter().zip(out.to_vec().unwrap()) {
                    let here = math::$($function)::+(x);
                    assert_eq!(result.to_bits(), here.to_bits(), "{x:e} on {}", device.name());
                }
            }
        }
    )*};
}
functions_of_one_number! {
    sqrt_f32: sqrt, singles;
    rsqrt_f32: rsqrt, singles;
    exp_f32: exp, singles;
    exp2_f32: exp2, singles;
    ln_f32: ln, singles;
    log2_f32: log2, singles;
    sin_f32: sin, singles;
    cos_f32: cos, singles;
    tan_f32: tan, singles;
    tanh_f32: tanh, singles;
    erf_f32: erf, singles;
    erfc_f32: erfc, singles;
    gelu_f32: gelu, singles;
    gelu_tanh_f32: gelu_tanh, singles;
    silu_f32: silu, singles;
    floor_f32: floor, singles;
    ceil_f32: ceil, singles;
    trunc_f32: trunc, singles;
    round_f32: round, singles;
    round_ties_even_f32: round_ties_even, singles;
    sqrt_f64: sqrt, doubles;
    rsqrt_f64: rsqrt, doubles;
    exp_f64: exp, doubles;
    exp2_f64: exp2, doubles;
    ln_f64: ln, doubles;
    log2_f64: log2, doubles;
    sin_f64: sin, doubles;
    cos_f64: cos, doubles;
    tan_f64: tan, doubles;
    tanh_f64: tanh, doubles;
    erf_f64: erf, doubles;
    erfc_f64: erfc, doubles;
    gelu_f64: gelu, doubles;
    gelu_tanh_f64: gelu_tanh, doubles;
    silu_f64: silu, doubles;
    floor_f64: floor, doubles;
    ceil_f64: ceil, doubles;
    trunc_f64: trunc, doubles;
    round_f64: round, doubles;
    round_ties_even_f64: round_ties_even, doubles;
    tanh_f16: tanh, halves;
    exp_bf16: exp, brains;
    approximate_rsqrt: approximate::rsqrt, singles;
    approximate_ln: approximate::ln, singles;
    approximate_log2: approximate::log2, singles;
    approximate_sin: approximate::sin, singles;
    approximate_cos: approximate::cos, singles;
    approximate_tanh: approximate::tanh, singles;
}

macro_rules! functions_of_two_numbers {
    ($($name:ident: $function:ident, $inputs:ident;)*) => {
        const OF_TWO: &[&str] = &[$(stringify!($name)),*];
        $(
        /// Each number with others of other magnitudes.
        #[test]
        fn $name() {
            let all = $inputs();
            let mut others = all.clone();
            others.rotate_left(all.len() / 3);
            for (device, takes) in machines_with_shares() {
                let (x, y) = (taken(&all, &takes), taken(&others, &takes));
                let config = LaunchConfig::for_elements(x.len(), THREADS);
                let mut out = output(&device, x.len());
                let arguments = (&upload(&device, &x), &upload(&device, &y), &mut out);
                launch(&device, kernels::$name, config, arguments);
                for ((&x, &y), result) in x.iter().zip(&y).zip(out.to_vec().unwrap()) {
                    let here = math::$function(x, y);
                    assert_eq!(result.to_bits(), here.to_bits(), "{x:e}, {y:e} on {}", device.name());
                }
            }
        }
    )*};
}
functions_of_two_numbers! {
    pow_f32: pow, singles;
    min_f32: min, singles;
    max_f32: max, singles;
    minimum_f32: minimum, singles;
    maximum_f32: maximum, singles;
    pow_f64: pow, doubles;
    min_f64: min, doubles;
    max_f64: max, doubles;
    minimum_f64: minimum, doubles;
    maximum_f64: maximum, doubles;
}

macro_rules! remainders {
    ($($name:ident: $inputs:ident, $operation:expr;)*) => {$(
        /// Numbers near each other, and numbers whose quotient has more bits than they have.
        #[test]
        fn $name() {
            let mut all = $inputs();
            let mut others = all.clone();
            others.rotate_left(all.len() / 3);
            all.extend_from_within(..);
            let mut near = others.clone();
            near.rotate_left(others.len() - others.len() / 3 - 7);
            others.append(&mut near);
            for (device, takes) in machines_with_shares() {
                let (x, y) = (taken(&all, &takes), taken(&others, &takes));
                let config = LaunchConfig::for_elements(x.len(), THREADS);
                let mut out = output(&device, x.len());
                let arguments = (&upload(&device, &x), &upload(&device, &y), &mut out);
                launch(&device, kernels::$name, config, arguments);
                for ((&x, &y), result) in x.iter().zip(&y).zip(out.to_vec().unwrap()) {
                    let here = $operation(x, y);
                    let is_same = result.to_bits() == here.to_bits() || result.is_nan() && here.is_nan();
                    assert!(is_same, "{x:e}, {y:e}: {here:e}, {result:e} on {}", device.name());
                }
            }
        }
    )*};
}
remainders! {
    remainder_f32: singles, std::ops::Rem::rem;
    remainder_f64: doubles, std::ops::Rem::rem;
    rem_euclid_f32: singles, f32::rem_euclid;
    div_euclid_f32: singles, f32::div_euclid;
    rem_euclid_f64: doubles, f64::rem_euclid;
    div_euclid_f64: doubles, f64::div_euclid;
}

/// A stack frame is local memory, which a thread reaches as slowly as the device's.
#[test]
fn no_function_has_a_stack_frame() {
    for (arch, text) in cuda_std_test_kernels::IMAGES {
        for name in OF_ONE.iter().chain(OF_TWO) {
            let start = format!(".entry {name}(");
            let (_, entry) = text.split_once(&start).expect("a kernel of the module");
            let body = entry.split(".entry ").next().unwrap_or(entry);
            assert!(!body.contains(".local"), "{name} for {arch}");
        }
    }
}
