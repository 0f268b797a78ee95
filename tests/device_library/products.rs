use crate::{launch, machines, numbers, output, try_launch, upload};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::{Kernel, ScalarParam};
use cuda_std::mma::{A, B};
use cuda_std_test_kernels::products as kernels;
use half::{bf16, f16};
use std::fmt::Debug;
use tilewright::{Device, Element, LaunchConfig, Profile, SimulatorOptions};

/// Lanes of the warps that tensor cores serve.
const LANES: usize = 32;

/// Devices with warps that tensor cores serve, and with all of the instructions.
fn tensor_machines() -> impl Iterator<Item = Device> {
    machines().into_iter().filter(|device| {
        let properties = device.properties();
        properties.warp_threads as usize == LANES
            && properties
                .compute_capability
                .is_none_or(|capability| capability >= (9, 0))
    })
}

/// Elements of A, B and C.
type Operands<'a, T, U, V> = (&'a [T], &'a [U], &'a [V]);

fn product<T, U, V, K>(device: &Device, kernel: K, (a, b, c): Operands<'_, T, U, V>) -> Vec<V>
where
    T: Element + ScalarParam,
    U: Element + ScalarParam,
    V: Element + ScalarParam,
    K: for<'launch> Kernel<
        Params<'launch> = (
            Global<'launch, T>,
            Global<'launch, U>,
            Global<'launch, V>,
            GlobalMut<'launch, V>,
        ),
    >,
{
    let mut out = output(device, c.len());
    let (a, b, c) = (upload(device, a), upload(device, b), upload(device, c));
    launch(
        device,
        kernel,
        LaunchConfig::new(1, LANES as u32),
        (&a, &b, &c, &mut out),
    );
    out.to_vec().unwrap()
}

/// A kernel's products of small integers are exact, and those of random bits are the same on every
/// machine.
fn check<T, U, V, K>(kernel: K, [m, n, k]: [usize; 3])
where
    T: TestElement,
    U: TestElement,
    V: TestElement,
    K: Copy
        + for<'launch> Kernel<
            Params<'launch> = (
                Global<'launch, T>,
                Global<'launch, U>,
                Global<'launch, V>,
                GlobalMut<'launch, V>,
            ),
        >,
{
    let mut integers = numbers(1).map(|number| (number % 9) as i32);
    let mut integers = |count: usize| integers.by_ref().take(count).collect::<Vec<i32>>();
    let (a, b, c) = (integers(m * 2 * k), integers(2 * k * n), integers(m * n));
    let expected: Vec<V> = (0..m * n)
        .map(|place| {
            let (row, column) = (&a[place / n * 2 * k..], &b[place % n * 2 * k..]);
            let products = row.iter().zip(column).take(2 * k).map(|(a, b)| a * b);
            V::of_integer(products.sum::<i32>() + c[place])
        })
        .collect();
    let a: Vec<T> = a.into_iter().map(T::of_integer).collect();
    let b: Vec<U> = b.into_iter().map(U::of_integer).collect();
    let c: Vec<V> = c.into_iter().map(V::of_integer).collect();
    let mut bits = numbers(2);
    let random_a: Vec<T> = bits.by_ref().take(a.len()).map(T::of_bits).collect();
    let random_b: Vec<U> = bits.by_ref().take(b.len()).map(U::of_bits).collect();
    let random_c: Vec<V> = bits.by_ref().take(c.len()).map(V::of_bits).collect();
    let random = (&random_a[..], &random_b[..], &random_c[..]);
    for device in tensor_machines() {
        assert_eq!(
            product(&device, kernel, (&a, &b, &c)),
            expected,
            "{}",
            device.name()
        );
        let simulated = product(&Device::simulator(), kernel, random);
        let computed = product(&device, kernel, random);
        let bytes = |values: &[V]| bytemuck::cast_slice::<V, u8>(values).to_vec();
        assert_eq!(bytes(&computed), bytes(&simulated), "{}", device.name());
    }
}

macro_rules! product_tests {
    ($($test:ident { $($kernel:ident $shape:expr;)* })*) => {$(
        #[test]
        fn $test() {
            $(check(kernels::$kernel, $shape);)*
        }
    )*};
}
product_tests! {
    products_of_f16 { product_f16_k8 [16, 8, 8]; product_f16_k16 [16, 8, 16]; }
    products_of_f16_to_f16 {
        product_f16_to_f16_k8 [16, 8, 8];
        product_f16_to_f16_k16 [16, 8, 16];
    }
    products_of_bf16 { product_bf16_k8 [16, 8, 8]; product_bf16_k16 [16, 8, 16]; }
    products_of_tf32 { product_tf32_k4 [16, 8, 4]; product_tf32_k8 [16, 8, 8]; }
    products_of_i8 {
        product_i8_m8 [8, 8, 16];
        product_i8_k16 [16, 8, 16];
        product_i8_k32 [16, 8, 32];
    }
    products_of_i8_and_u8 {
        product_i8_u8_m8 [8, 8, 16];
        product_i8_u8_k16 [16, 8, 16];
        product_i8_u8_k32 [16, 8, 32];
    }
    products_of_u8_and_i8 {
        product_u8_i8_m8 [8, 8, 16];
        product_u8_i8_k16 [16, 8, 16];
        product_u8_i8_k32 [16, 8, 32];
    }
    products_of_u8 {
        product_u8_m8 [8, 8, 16];
        product_u8_k16 [16, 8, 16];
        product_u8_k32 [16, 8, 32];
    }
    products_of_f64 {
        product_f64_m8 [8, 8, 4];
        product_f64_k4 [16, 8, 4];
        product_f64_k8 [16, 8, 8];
        product_f64_k16 [16, 8, 16];
    }
}

/// Elements of the tests: random ones, of all magnitudes that do not overflow, and integers.
trait TestElement: Element + ScalarParam + PartialEq + Debug {
    fn of_bits(bits: u64) -> Self;
    fn of_integer(integer: i32) -> Self;
}

macro_rules! test_elements {
    ($($element:ty: $bits:expr, $integer:expr;)*) => {$(
        impl TestElement for $element {
            fn of_bits(bits: u64) -> Self {
                let of_bits: fn(u64) -> Self = $bits;
                of_bits(bits)
            }

            fn of_integer(integer: i32) -> Self {
                let of_integer: fn(i32) -> Self = $integer;
                of_integer(integer)
            }
        }
    )*};
}
// The exponents of a format's middle: the upper two bits of the field are different.
test_elements! {
    f16: |bits| f16::from_bits((bits as u16 & 0x9fff) | 0x2000), |integer| f16::from_f32(integer as f32);
    bf16: |bits| bf16::from_bits((bits as u16 & 0x83ff) | 0x3e00), |integer| bf16::from_f32(integer as f32);
    f32: |bits| f32::from_bits((bits as u32 & 0x83ff_ffff) | 0x3e00_0000), |integer| integer as f32;
    f64: |bits| f64::from_bits((bits & 0x807f_ffff_ffff_ffff) | 0x3fc0_0000_0000_0000), |integer| f64::from(integer);
    i8: |bits| bits as i8, |integer| integer as i8;
    u8: |bits| bits as u8, |integer| integer as u8;
    i32: |bits| bits as i32, |integer| integer;
}

/// The generations of tensor cores have different bits.
#[test]
fn the_profile_has_its_own_bits() {
    let mut bits = numbers(3);
    let mut operands =
        |count: usize| -> Vec<f16> { bits.by_ref().take(count).map(f16::of_bits).collect() };
    let (a, b) = (operands(16 * 32), operands(32 * 8));
    let on = |profile| {
        let device = Device::simulator_with(SimulatorOptions::default().with_profile(profile));
        product(&device, kernels::product_f16_k16, (&a, &b, &[0.0_f32; 128]))
    };
    assert_eq!(on(Profile::H100), on(Profile::H200));
    assert_ne!(on(Profile::A100), on(Profile::H200));
}

/// Wide warps are none that tensor cores serve, and a warp must be whole.
#[test]
fn warps_of_other_widths_are_reported() {
    let zeros = [f16::ZERO; 512];
    let run = |options: SimulatorOptions, threads| {
        let device = Device::simulator_with(options);
        let (a, b) = (upload(&device, &zeros), upload(&device, &zeros));
        let c = upload(&device, &[0.0_f32; 128]);
        let mut out = output(&device, 128);
        let config = LaunchConfig::new(1, threads);
        let error = try_launch(
            &device,
            kernels::product_f16_k16,
            config,
            (&a, &b, &c, &mut out),
        );
        error.expect_err("a defect").to_string()
    };
    let wide = run(SimulatorOptions::default().with_warp_width(64), 64);
    assert!(wide.contains("by a warp of 64 lanes"), "{wide}");
    let part = run(SimulatorOptions::default(), 16);
    assert!(
        part.contains("names lane 16, which does not exist"),
        "{part}"
    );
}

/// The values that loads give a lane, in the kernel's order, for matrices with elements `x(row, column)`, or `x(column,
/// row)` if lines are columns of A or B.
fn loaded<T>(lane: usize, x: impl Fn(usize, usize) -> T) -> Vec<T> {
    let of_a = |(row, column)| [x(row, column), x(column, row)];
    let of_b = |(k, column)| {
        let pair = |column| [x(column, k), x(k, column)];
        let [by_columns, by_rows] = pair(column);
        let ([first, third], [second, fourth]) = (pair(column), pair(column + 8));
        [by_columns, by_rows, first, second, third, fourth]
    };
    let wide = (0..8).flat_map(|index| of_a(A::<f16, 16, 16>::place_in(lane, index)));
    let narrow = (0..4).flat_map(|index| of_a(A::<f16, 16, 8>::place_in(lane, index)));
    let high = (0..4).flat_map(|index| of_b(B::<f16, 16, 8>::place_in(lane, index)));
    let low = (0..2).flat_map(|index| of_b(B::<f16, 8, 8>::place_in(lane, index)));
    wide.chain(narrow).chain(high).chain(low).collect()
}

fn check_loads<T, K>(kernel: K, of_integer: fn(i32) -> T)
where
    T: Element + ScalarParam + PartialEq + Debug,
    K: Copy + for<'launch> Kernel<Params<'launch> = (Global<'launch, T>, GlobalMut<'launch, T>)>,
{
    let x: Vec<T> = (0..256).map(of_integer).collect();
    let expected: Vec<T> = (0..LANES)
        .flat_map(|lane| loaded(lane, |row, column| x[row * 16 + column]))
        .collect();
    for device in tensor_machines() {
        let mut out = output(&device, LANES * kernels::LOADED);
        let config = LaunchConfig::new(1, LANES as u32);
        launch(&device, kernel, config, (&upload(&device, &x), &mut out));
        assert_eq!(out.to_vec().unwrap(), expected, "{}", device.name());
    }
}

#[test]
fn matrices_are_loaded() {
    check_loads(kernels::matrices_f16, f16::of_integer);
    check_loads(kernels::matrices_bf16, bf16::of_integer);
}

fn check_stores<T, K>(kernel: K, narrow: fn(f32) -> T)
where
    T: Element + ScalarParam + PartialEq + Debug,
    K: Copy + for<'launch> Kernel<Params<'launch> = (Global<'launch, f32>, GlobalMut<'launch, T>)>,
{
    let x: Vec<f32> = numbers(5).take(128).map(f32::of_bits).collect();
    let by_rows = x.iter().copied();
    let by_columns = (0..128).map(|place| x[place % 16 * 8 + place / 16]);
    let expected: Vec<T> = by_rows.chain(by_columns).map(narrow).collect();
    for device in tensor_machines() {
        let mut out = output(&device, 256);
        let config = LaunchConfig::new(1, LANES as u32);
        launch(&device, kernel, config, (&upload(&device, &x), &mut out));
        assert_eq!(out.to_vec().unwrap(), expected, "{}", device.name());
    }
}

#[test]
fn matrices_are_stored() {
    check_stores(kernels::stored_f16, f16::from_f32);
    check_stores(kernels::stored_bf16, bf16::from_f32);
}

#[test]
fn products_of_loaded_bytes() {
    let x: Vec<i8> = numbers(6).take(512).map(i8::of_bits).collect();
    let product = |place: usize| -> i32 {
        let (row, column) = (&x[place / 8 * 32..][..32], &x[place % 8 * 32..][..32]);
        row.iter()
            .zip(column)
            .map(|(a, b)| i32::from(*a) * i32::from(*b))
            .sum()
    };
    let expected: Vec<i32> = (0..128).map(product).collect();
    for device in tensor_machines() {
        let mut out = output(&device, 128);
        let config = LaunchConfig::new(1, LANES as u32);
        let kernel = kernels::product_of_loaded_i8;
        launch(&device, kernel, config, (&upload(&device, &x), &mut out));
        assert_eq!(out.to_vec().unwrap(), expected, "{}", device.name());
    }
}
