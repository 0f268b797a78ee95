use crate::{MODULE, hoppers, launch, numbers, output};
use cuda_std::fp8::{F8E4M3, F8E5M2};
use cuda_std::global::GlobalMut;
use cuda_std::grid_constant::GridConstant;
use cuda_std::kernel::Kernel;
use cuda_std::tma::TensorMap;
use cuda_std_test_kernels::warpgroups as kernels;
use half::{bf16, f16};
use simt::tensor::{FloatUnit, Format, S8, wgmma};
use tilewright::{Device, Element, LaunchConfig, Order};

/// An element of an operand.
trait Factor: Element {
    /// Its format; none for integers.
    const FORMAT: Option<Format>;

    fn of_integer(integer: i32) -> Self;
    /// Of all magnitudes whose products and sums do not overflow.
    fn of_random(bits: u64) -> Self;
    fn bits(self) -> u32;
}

macro_rules! factors {
    ($($element:ty as $bits:ty, $format:expr, $integer:expr, $random:expr;)*) => {$(
        impl Factor for $element {
            const FORMAT: Option<Format> = $format;

            fn of_integer(integer: i32) -> Self {
                let of_integer: fn(i32) -> Self = $integer;
                of_integer(integer)
            }

            fn of_random(bits: u64) -> Self {
                let random: fn($bits) -> $bits = $random;
                bytemuck::cast(random(bits as $bits))
            }

            fn bits(self) -> u32 {
                bytemuck::cast::<_, $bits>(self).into()
            }
        }
    )*};
}
// The exponents of a format's middle: the upper two bits of the field are different.
factors! {
    f16 as u16, Some(Format::F16), |integer| f16::from_f32(integer as f32), |bits| bits & 0x9fff | 0x2000;
    bf16 as u16, Some(Format::BF16), |integer| bf16::from_f32(integer as f32), |bits| bits & 0x83ff | 0x3e00;
    f32 as u32, Some(Format::TF32), |integer| integer as f32, |bits| bits & 0x83ff_ffff | 0x3e00_0000;
    F8E4M3 as u8, Some(Format::E4M3), |integer| F8E4M3::from_f32(integer as f32), |bits| bits & 0x9f | 0x20;
    F8E5M2 as u8, Some(Format::E5M2), |integer| F8E5M2::from_f32(integer as f32), |bits| bits & 0x9f | 0x20;
    i8 as u8, None, |integer| integer as i8, |bits| bits;
    u8 as u8, None, |integer| integer as u8, |bits| bits;
}

/// An output.
trait Sum: Element {
    fn of_integer(integer: i32) -> Self;
    fn bits(self) -> u32;
}

impl Sum for f32 {
    fn of_integer(integer: i32) -> Self {
        integer as Self
    }

    fn bits(self) -> u32 {
        self.to_bits()
    }
}

impl Sum for i32 {
    fn of_integer(integer: i32) -> Self {
        integer
    }

    fn bits(self) -> u32 {
        self.cast_unsigned()
    }
}

/// The rows of A and the columns of B.
struct Operands<A, B> {
    a: Vec<A>,
    b: Vec<B>,
}

impl<A: Factor, B: Factor> Operands<A, B> {
    /// Elements along k.
    const K: usize = kernels::PANELS * 128 / size_of::<A>();

    /// Operands of `n` columns, which the numbers of a seed become.
    fn new(n: usize, seed: u64, of_a: fn(u64) -> A, of_b: fn(u64) -> B) -> Self {
        let mut numbers = numbers(seed);
        let a = numbers.by_ref().take(kernels::ROWS * Self::K);
        let a = a.map(of_a).collect();
        let b = numbers.take(n * Self::K).map(of_b).collect();
        Self { a, b }
    }

    /// The results of the tensor cores of the simulator's device, by its model of one output.
    fn modelled(&self) -> Vec<u32> {
        let a: Vec<u32> = self.a.iter().map(|it| it.bits()).collect();
        let b: Vec<u32> = self.b.iter().map(|it| it.bits()).collect();
        let mut sums = vec![0; kernels::ROWS * b.len() / Self::K];
        let (Some(of_a), Some(of_b)) = (A::FORMAT, B::FORMAT) else {
            let bytes = |bits: &[u32]| bits.iter().map(|it| *it as u8).collect::<Vec<_>>();
            let sums: &mut [i32] = bytemuck::cast_slice_mut(&mut sums);
            S8.multiply(Self::K, &bytes(&a), &bytes(&b), sums);
            return sums.iter().map(|sum| sum.cast_unsigned()).collect();
        };
        unit(of_a, of_b).multiply(Self::K, &a, &b, &mut sums);
        sums
    }
}

/// The unit that multiplies these formats.
fn unit(a: Format, b: Format) -> FloatUnit {
    match a {
        Format::F16 => wgmma::F16,
        Format::BF16 => wgmma::BF16,
        Format::TF32 => wgmma::TF32,
        _ => wgmma::E4M3.of(a, b),
    }
}

/// A number of a seed as a small integer.
fn small(number: u64) -> i32 {
    (number % 7) as i32 - 3
}

/// The product of the small integers of seed 1, with `n` columns and `k` elements along k.
fn exact_product(n: usize, k: usize) -> Vec<i32> {
    let drawn = numbers(1).take((kernels::ROWS + n) * k);
    let drawn: Vec<i32> = drawn.map(small).collect();
    let (a, b) = drawn.split_at(kernels::ROWS * k);
    let output = |place: usize| {
        let (row, column) = (&a[place / n * k..][..k], &b[place % n * k..][..k]);
        row.iter().zip(column).map(|(a, b)| a * b).sum()
    };
    (0..kernels::ROWS * n).map(output).collect()
}

/// A kernel's products of small integers are exact, and those of random bits are the model's.
fn check<A, B, S, K, const N: usize, const PANEL: usize>(kernel: K)
where
    A: Factor,
    B: Factor,
    S: Sum,
    K: Copy
        + for<'launch> Kernel<
            Params<'launch> = (
                GridConstant<'launch, TensorMap<A, 64, PANEL>>,
                GridConstant<'launch, TensorMap<B, N, PANEL>>,
                GlobalMut<'launch, S>,
            ),
        >,
{
    let integers = Operands::new(
        N,
        1,
        |number| A::of_integer(small(number)),
        |number| B::of_integer(small(number)),
    );
    let exact: Vec<u32> = exact_product(N, Operands::<A, B>::K)
        .into_iter()
        .map(|sum| S::of_integer(sum).bits())
        .collect();
    let random = Operands::new(N, 2, A::of_random, B::of_random);
    let modelled = random.modelled();
    for device in hoppers() {
        for (operands, expected) in [(&integers, &exact), (&random, &modelled)] {
            let product = multiply(&device, kernel, operands);
            assert!(product == *expected, "{} on {}", K::NAME, device.name());
        }
    }
}

/// A kernel's products of random integers are exact.
fn check_integers<T, K, const N: usize>(kernel: K)
where
    T: Factor + Into<i32>,
    K: Copy
        + for<'launch> Kernel<
            Params<'launch> = (
                GridConstant<'launch, TensorMap<T, 64, 128>>,
                GridConstant<'launch, TensorMap<T, N, 128>>,
                GlobalMut<'launch, i32>,
            ),
        >,
{
    let k = Operands::<T, T>::K;
    let operands = Operands::new(N, 3, T::of_random, T::of_random);
    let output = |place: usize| {
        let row = &operands.a[place / N * k..][..k];
        let column = &operands.b[place % N * k..][..k];
        let products = row
            .iter()
            .zip(column)
            .map(|(a, b)| (*a).into() * (*b).into());
        products.sum::<i32>().bits()
    };
    let exact: Vec<u32> = (0..kernels::ROWS * N).map(output).collect();
    for device in hoppers() {
        let product = multiply(&device, kernel, &operands);
        assert!(product == exact, "{} on {}", K::NAME, device.name());
    }
}

/// The bits of the product.
fn multiply<A, B, S, K, const N: usize, const PANEL: usize>(
    device: &Device,
    kernel: K,
    operands: &Operands<A, B>,
) -> Vec<u32>
where
    A: Factor,
    B: Factor,
    S: Sum,
    K: for<'launch> Kernel<
        Params<'launch> = (
            GridConstant<'launch, TensorMap<A, 64, PANEL>>,
            GridConstant<'launch, TensorMap<B, N, PANEL>>,
            GlobalMut<'launch, S>,
        ),
    >,
{
    let k = Operands::<A, B>::K;
    let a = device.matrix((kernels::ROWS, k), &operands.a).unwrap();
    let b = device.matrix((k, N, Order::ColumnMajor), &operands.b);
    let b = b.unwrap();
    let (a, b) = (a.tensor_map().unwrap(), b.tensor_map().unwrap());
    let mut out = output::<S>(device, kernels::ROWS * N);
    let config =
        LaunchConfig::new(1, kernels::THREADS).with_dynamic_shared(kernels::shared_bytes(N));
    launch(device, kernel, config, (&a, &b, &mut out));
    let out = out.to_vec().unwrap();
    out.into_iter().map(Sum::bits).collect()
}

#[test]
fn the_compiler_has_nothing_to_remark() {
    for device in hoppers() {
        let module = device.load(&MODULE).unwrap();
        assert_eq!(module.compiler_warnings().unwrap(), [""; 0]);
    }
}

#[test]
fn warpgroups_multiply_integers_without_a_sign() {
    check_integers(kernels::warpgroup_u8_n64);
    check_integers(kernels::warpgroup_u8_n256);
}

macro_rules! product_tests {
    ($($test:ident: $($kernel:ident)*;)*) => {$(
        #[test]
        fn $test() {
            $(check(kernels::$kernel);)*
        }
    )*};
}
product_tests! {
    warpgroups_multiply_f16: warpgroup_f16_n8 warpgroup_f16_n64 warpgroup_f16_n256;
    warpgroups_multiply_bf16: warpgroup_bf16_n64 warpgroup_bf16_n144 warpgroup_bf16_n256;
    warpgroups_multiply_tf32:
        warpgroup_tf32_n40 warpgroup_tf32_n64 warpgroup_tf32_n128 warpgroup_tf32_n192 warpgroup_tf32_n256;
    warpgroups_multiply_e4m3:
        warpgroup_e4m3_n64 warpgroup_e4m3_n128 warpgroup_e4m3_n192 warpgroup_e4m3_n248
        warpgroup_e4m3_n256;
    warpgroups_multiply_e5m2:
        warpgroup_e5m2_n64 warpgroup_e5m2_n128 warpgroup_e5m2_n192 warpgroup_e5m2_n256;
    warpgroups_multiply_mixed_fp8:
        warpgroup_e4m3_e5m2_n64 warpgroup_e4m3_e5m2_n256
        warpgroup_e5m2_e4m3_n64 warpgroup_e5m2_e4m3_n256;
    warpgroups_multiply_i8:
        warpgroup_i8_n24 warpgroup_i8_n64 warpgroup_i8_n128 warpgroup_i8_n192 warpgroup_i8_n240
        warpgroup_i8_n256;
}
