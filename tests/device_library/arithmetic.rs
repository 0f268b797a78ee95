use crate::{launch, machines, numbers, output, upload};
use cuda_std::fp8::{F8E4M3, F8E5M2};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;
use cuda_std_test_kernels::arithmetic as kernels;
use half::{bf16, f16};
use std::fmt::Debug;
use tilewright::{Element, LaunchConfig};

/// Threads of a block.
const THREADS: u32 = 256;

/// Products whose rounding shows, subnormal results, and infinities.
const HARD: [[f64; 3]; 6] = [
    [1.0 + 1.0 / 4096.0, 1.0 + 1.0 / 4096.0, -1.0],
    [1.0 / 3.0, 3.0, -1.0],
    [1e-30, 1e-12, 0.0],
    [1e-200, 1e-120, 0.0],
    [f64::INFINITY, 2.0, 1.0],
    [0.0, -1.0, 0.0],
];

/// Fails unless `is_right` accepts a kernel's result for each number, on every machine.
fn check<T, U, K>(kernel: K, x: &[T], is_right: impl Fn(T, U) -> bool)
where
    T: Element + Debug,
    U: Element + Debug,
    K: for<'launch> Kernel<Params<'launch> = (Global<'launch, T>, GlobalMut<'launch, U>)>,
{
    let config = LaunchConfig::for_elements(x.len(), THREADS);
    for device in machines() {
        let mut out = output::<U>(&device, x.len());
        launch(&device, kernel, config, (&upload(&device, x), &mut out));
        for (x, result) in x.iter().zip(out.to_vec().unwrap()) {
            let (kernel, device) = (K::NAME, device.name());
            assert!(
                is_right(*x, result),
                "{kernel} of {x:?}: {result:?} on {device}"
            );
        }
    }
}

macro_rules! check_mul_add {
    ($kernel:ident, $triples:expr) => {{
        let triples = $triples;
        let of = |place: usize| {
            triples
                .iter()
                .map(|triple| triple[place])
                .collect::<Vec<_>>()
        };
        let config = LaunchConfig::for_elements(triples.len(), THREADS);
        for device in machines() {
            let mut out = upload(&device, &of(2));
            let (a, b) = (upload(&device, &of(0)), upload(&device, &of(1)));
            launch(&device, kernels::$kernel, config, (&a, &b, &mut out));
            for ([a, b, c], result) in triples.iter().zip(out.to_vec().unwrap()) {
                let expected = a.mul_add(*b, *c) + 0.0;
                assert_eq!(result.to_bits(), expected.to_bits(), "{a} * {b} + {c}");
            }
        }
    }};
}

#[test]
fn mul_add_rounds_once() {
    let random = numbers(1)
        .map(|n| n as i32 as f64 / 1e5)
        .take(3000)
        .collect::<Vec<_>>();
    let triples: Vec<[f64; 3]> = random
        .chunks(3)
        .map(|t| [t[0], t[1], -t[0] * t[1] + t[2]])
        .chain(HARD)
        .collect();
    let narrow: Vec<[f32; 3]> = triples.iter().map(|t| t.map(|x| x as f32)).collect();
    check_mul_add!(mul_add_f64, &triples);
    check_mul_add!(mul_add_f32, &narrow);
}

/// Arguments from where e^x is 0 to where it is infinite, with subnormal results among them, and special values.
fn exponents() -> Vec<f64> {
    let spread = (0..60_000).map(|i| -750.0 + f64::from(i) * 0.0245);
    let near_zero = numbers(3).map(|n| n as i32 as f64 / 1e10).take(2000);
    let special = [
        0.0,
        -0.0,
        1.0,
        f64::MIN_POSITIVE,
        709.782_712_893_384,
        709.782_712_893_385,
        -708.396_418_532_264_2,
        -745.133_219_101_941_1,
        -745.133_219_101_941_2,
        f64::MAX,
        f64::MIN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    spread.chain(near_zero).chain(special).collect()
}

#[test]
fn exponentials_are_the_same_everywhere_and_nearly_exact() {
    check(kernels::exponential, &exponents(), |x: f64, result: f64| {
        // The error of each is below one unit in the last place, so they are at most
        // neighbours of the same number.
        let units = result.to_bits().abs_diff(x.exp().to_bits());
        result.to_bits() == cuda_std::math::exp(x).to_bits() && units <= 1
    });
}

#[test]
fn the_exponential_of_no_number_is_none() {
    check(
        kernels::exponential,
        &[f64::NAN, -f64::NAN],
        |_, result: f64| result.is_nan(),
    );
}

/// Equal bits, or both NaN: which NaN a conversion makes is the machine's choice.
fn is_same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

#[test]
fn every_half_widens_exactly() {
    let f16s: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let bf16s: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
    check(kernels::widen_f16, &f16s, |half: f16, wide| {
        is_same(wide, half.to_f32())
    });
    check(kernels::widen_bf16, &bf16s, |half: bf16, wide| {
        is_same(wide, half.to_f32())
    });
}

/// Every value of a 16-bit format, its neighbours in f32, and the points half way to the next.
fn around(halves: impl Iterator<Item = f32>) -> Vec<f32> {
    let finite = halves.filter(|value| value.is_finite());
    let near = finite.flat_map(|value| {
        let next = (f64::from(value) * (1.0 + 2.0_f64.powi(-11))) as f32;
        let after = (f64::from(value) * (1.0 + 2.0_f64.powi(-8))) as f32;
        [
            value,
            value.next_up(),
            value.next_down(),
            next,
            next.next_up(),
            after,
        ]
    });
    let random = numbers(2).map(|n| f32::from_bits(n as u32)).take(10_000);
    near.chain(random)
        .chain([
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            65_519.996,
            65_520.0,
            -0.0,
        ])
        .collect()
}

#[test]
fn narrowing_takes_the_nearest_even_half() {
    let around_f16 = around(
        (0..=u16::MAX)
            .step_by(3)
            .map(|bits| f16::from_bits(bits).to_f32()),
    );
    let around_bf16 = around(
        (0..=u16::MAX)
            .step_by(3)
            .map(|bits| bf16::from_bits(bits).to_f32()),
    );
    check(kernels::narrow_f16, &around_f16, |value, half: f16| {
        is_same(half.to_f32(), f16::from_f32(value).to_f32())
    });
    check(kernels::narrow_bf16, &around_bf16, |value, half: bf16| {
        is_same(half.to_f32(), bf16::from_f32(value).to_f32())
    });
}

/// A float of random bits from 2^-17 to 2^19.
fn near_fp8(bits: u64) -> f32 {
    let exponent = 110 + (bits >> 32) as u32 % 36;
    f32::from_bits(bits as u32 & 0x807f_ffff | exponent << 23)
}

/// Floats of random bits, of the magnitudes around the formats, and special ones.
fn fp8_floats() -> Vec<f32> {
    let random = numbers(8)
        .map(|bits| f32::from_bits(bits as u32))
        .take(4096);
    let near = numbers(9).map(near_fp8);
    let special = [
        0.0,
        -0.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MAX,
    ];
    random.chain(near.take(4096)).chain(special).collect()
}

macro_rules! fp8_tests {
    ($($test:ident: $element:ty, $widen:ident, $narrow:ident;)*) => {$(
        /// Every code, and floats of random bits and of the magnitudes around the format, have the bits of
        /// the host on every machine; the crate's own tests hold those against the format's definition.
        #[test]
        fn $test() {
            let codes: Vec<$element> = (0..=u8::MAX).map(<$element>::from_bits).collect();
            check(kernels::$widen, &codes, |code: $element, value: f32| {
                value.to_bits() == code.to_f32().to_bits()
            });
            check(kernels::$narrow, &fp8_floats(), |float: f32, code: $element| {
                code.to_bits() == <$element>::from_f32(float).to_bits()
            });
        }
    )*};
}
fp8_tests! {
    e4m3_has_the_same_bits_everywhere: F8E4M3, widen_e4m3, narrow_e4m3;
    e5m2_has_the_same_bits_everywhere: F8E5M2, widen_e5m2, narrow_e5m2;
}

#[test]
fn pairs_of_e4m3_have_the_bits_of_single_numbers() {
    let floats = fp8_floats();
    let (pairs, _) = floats.as_chunks::<2>();
    let is_right = |pair: [f32; 2], codes: [F8E4M3; 2]| {
        codes.map(F8E4M3::to_bits) == pair.map(|it| F8E4M3::from_f32(it).to_bits())
    };
    check(kernels::narrow_e4m3_pairs, pairs, is_right);
}
