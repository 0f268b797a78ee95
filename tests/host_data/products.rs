//! Products of host matrices in panels: the bits of the product of the whole matrices.

mod parts;
mod refusals;

use crate::common::devices;
use half::{bf16, f16};
use std::any::type_name;
use std::fmt::Debug;
use tilewright::cuda_std::fp8::F8E4M3;
use tilewright::{
    Arithmetic, Device, Element, Error, HostMatrix, HostMultiplier, Matmul, MatmulElement,
    MatmulInto, Order,
};
use tilewright_test_support::random::Random;

/// M, K and N.
type Shape = (usize, usize, usize);

const ORDERS: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];

/// An element type of operands.
trait Factor: MatmulElement {
    fn of(value: f64) -> Self;
}

macro_rules! factors {
    ($($element:ty: $of:expr;)*) => {$(
        impl Factor for $element {
            fn of(value: f64) -> Self {
                $of(value)
            }
        }
    )*};
}
factors! {
    f32: |value| value as f32;
    f64: |value| value;
    f16: f16::from_f64;
    bf16: bf16::from_f64;
    i8: |value| (100.0 * value) as i8;
    F8E4M3: |value| F8E4M3::from_f32(value as f32);
}

fn data<T: Factor>(len: usize) -> Vec<T> {
    let mut random = Random::new(len as u64 + 1);
    (0..len).map(|_| T::of(random.signed_unit())).collect()
}

/// The product of the whole matrices.
fn whole<T: MatmulInto<O>, O: Element>(
    device: &Device,
    (a, b): (HostMatrix<'_, T>, HostMatrix<'_, T>),
    arithmetic: Arithmetic,
) -> Vec<O> {
    let upload = |it: HostMatrix<'_, T>| device.matrix(it.shape(), it.elements()).unwrap();
    let (a, b) = (upload(a), upload(b));
    let product = Matmul::new(&a, &b).arithmetic(arithmetic).run_as::<O>();
    product.unwrap().to_vec().unwrap()
}

/// The product by functions that read and write, and the number of elements that were read.
fn by_functions<T: MatmulInto<O>, O: Element>(
    multiplier: &mut HostMultiplier<T, O>,
    (a, b): (HostMatrix<'_, T>, HostMatrix<'_, T>),
) -> (Vec<O>, [usize; 2]) {
    let (rows, columns) = (a.shape().rows, b.shape().cols);
    let mut c = vec![O::zeroed(); rows * columns];
    let mut times = vec![0; c.len()];
    let mut counts = [0; 2];
    let [of_a, of_b] = &mut counts;
    let read = |matrix: &[T], start: usize, elements: &mut [T], count: &mut usize| {
        *count += elements.len();
        elements.copy_from_slice(&matrix[start..start + elements.len()]);
        Ok::<_, Error>(())
    };
    let product = multiplier.multiply_from(
        (a.shape(), |start, elements: &mut [T]| {
            read(a.elements(), start, elements, of_a)
        }),
        (b.shape(), |start, elements: &mut [T]| {
            read(b.elements(), start, elements, of_b)
        }),
        |start, outputs: &[O]| {
            c[start..start + outputs.len()].copy_from_slice(outputs);
            times[start..start + outputs.len()]
                .iter_mut()
                .for_each(|it| *it += 1);
            Ok(())
        },
    );
    product.unwrap();
    assert!(
        times.iter().all(|it| *it == 1),
        "each output is written once"
    );
    (c, counts)
}

fn bits<O: Element>(outputs: &[O]) -> &[u8] {
    bytemuck::cast_slice(outputs)
}

/// Memory for two panels of `lines` rows and two of `lines` columns with all of K, and for their outputs.
fn memory_for<T, O>(lines: usize, k: usize) -> u64 {
    (4 * lines * k * size_of::<T>() + 2 * lines * lines * size_of::<O>()) as u64
}

/// Fails unless panels of `lines` lines or more have the bits of the whole product, in all orders.
#[track_caller]
fn check<T, O>(device: &Device, (m, k, n): Shape, lines: usize, arithmetic: Arithmetic)
where
    T: Factor + MatmulInto<O>,
    O: Element + Debug,
{
    let (a, b) = (data::<T>(m * k), data::<T>(k * n));
    let memory = memory_for::<T, O>(lines, k);
    let multiplier = device.host_multiplier::<T, O>(memory).unwrap();
    let mut multiplier = multiplier.arithmetic(arithmetic);
    assert_eq!(multiplier.parts_of_k((m, k, n)).unwrap(), 1);
    for order_of_a in ORDERS {
        for order_of_b in ORDERS {
            let a = HostMatrix::new((m, k, order_of_a), &a).unwrap();
            let b = HostMatrix::new((k, n, order_of_b), &b).unwrap();
            let case = format!(
                "{}: {m}x{k}x{n}, {order_of_a:?}, {order_of_b:?}, {lines} lines",
                type_name::<T>()
            );
            let expected = whole::<T, O>(device, (a, b), arithmetic);
            let mut c = vec![O::zeroed(); m * n];
            multiplier.multiply(a, b, &mut c).unwrap();
            assert!(bits(&c) == bits(&expected), "{case}");
            let (c, _) = by_functions(&mut multiplier, (a, b));
            assert!(bits(&c) == bits(&expected), "{case}, read");
        }
    }
}

macro_rules! types {
    ($($name:ident: $element:ty => $output:ty;)*) => {$(
        #[test]
        fn $name() {
            for device in devices() {
                // Several panels of both operands; of one; a vector.
                let shapes = [(130, 17, 131), (1, 33, 130), (33, 24, 130), (130, 33, 1)];
                // Tensor cores take the simulator long.
                let count = if size_of::<$element>() < size_of::<f32>() { 2 } else { 4 };
                for &shape in &shapes[..count] {
                    check::<$element, $output>(&device, shape, 64, Arithmetic::Auto);
                }
            }
        }
    )*};
}
types! {
    products_of_f32: f32 => f32;
    products_of_f64: f64 => f64;
    products_of_f16: f16 => f16;
    products_of_f16_as_f32: f16 => f32;
    products_of_bf16: bf16 => bf16;
    products_of_i8: i8 => i32;
    products_of_float8: F8E4M3 => bf16;
}

#[test]
fn chains_and_divided_k() {
    for device in devices() {
        check::<f32, f32>(&device, (140, 70, 140), 64, Arithmetic::Chain);
        check::<f32, f32>(&device, (66, 1030, 3), 64, Arithmetic::Auto);
        check::<f64, f64>(&device, (66, 1030, 3), 64, Arithmetic::Auto);
        check::<f32, f32>(&device, (2, 3, 65), 64, Arithmetic::Exact);
        // With this little memory, K would be cut.
        check::<f32, f32>(&device, (66, 1030, 3), 8, Arithmetic::BatchInvariant);
        check::<f16, f32>(&device, (20, 1030, 3), 8, Arithmetic::BatchInvariant);
    }
}

/// Split operands and residues, where the device has them: too large for a simulator.
#[test]
fn products_on_tensor_cores() {
    for device in devices().iter().filter(|it| !it.is_simulator()) {
        for lines in [256, 1000] {
            check::<f32, f32>(device, (2100, 1030, 1999), lines, Arithmetic::Auto);
            check::<f16, f16>(device, (2100, 4096, 1999), lines, Arithmetic::Auto);
        }
        check::<f64, f64>(device, (5000, 5000, 5001), 1500, Arithmetic::Auto);
        check::<f64, f64>(device, (1000, 500, 1001), 300, Arithmetic::Exact);
    }
}

/// More pieces of page-locked memory than one, and several threads.
#[test]
fn panels_of_many_bytes() {
    for device in devices() {
        for (m, k, n, memory) in [
            (1, 1_100_000, 2, 1 << 30),
            (1100, 1, 1100, 1 << 30),
            (1100, 1, 1100, 5 << 20),
        ] {
            let (a, b) = (data::<f32>(m * k), data::<f32>(k * n));
            let a = HostMatrix::new((m, k), &a).unwrap();
            let b = HostMatrix::new((k, n), &b).unwrap();
            let expected = whole::<f32, f32>(&device, (a, b), Arithmetic::Auto);
            let mut multiplier = device.host_multiplier::<f32, f32>(memory).unwrap();
            let mut c = vec![0.0; m * n];
            multiplier.multiply(a, b, &mut c).unwrap();
            assert!(c == expected, "{m}x{k}x{n}");
            assert!(
                by_functions(&mut multiplier, (a, b)).0 == expected,
                "{m}x{k}x{n}"
            );
        }
    }
}

/// A panel that stays is uploaded once, and so is an operand of two panels.
#[test]
fn elements_are_read_as_often_as_panels_need_them() {
    let device = Device::simulator();
    let (m, k, n) = (640, 16, 130);
    let (a, b) = (data::<f32>(m * k), data::<f32>(k * n));
    let a = HostMatrix::new((m, k), &a).unwrap();
    let b = HostMatrix::new((k, n), &b).unwrap();
    let counts = |memory| {
        let mut multiplier = device.host_multiplier::<f32, f32>(memory).unwrap();
        by_functions(&mut multiplier, (a, b)).1
    };
    assert_eq!(counts(1 << 30), [m * k, k * n]);
    // Enough for all of B.
    assert_eq!(counts(memory_for::<f32, f32>(130, k)), [m * k, k * n]);
    let [of_a, of_b] = counts(memory_for::<f32, f32>(64, k));
    assert!(of_a + of_b < 3 * (m * k + k * n), "{of_a} {of_b}");
    assert!(of_a + of_b > m * k + k * n);
}

#[test]
fn a_device_multiplies_host_matrices() {
    for device in devices() {
        // The second is not small.
        for (m, k, n) in [(30, 20, 50), (1, 1_050_000, 8)] {
            let (a, b) = (data::<f64>(m * k), data::<f64>(k * n));
            let a = HostMatrix::new((m, k), &a).unwrap();
            let b = HostMatrix::new((k, n), &b).unwrap();
            let expected = whole::<f64, f64>(&device, (a, b), Arithmetic::Auto);
            assert_eq!(device.matmul_host(a, b).unwrap(), expected);
        }
    }
}

#[test]
fn products_without_elements() {
    for device in devices() {
        let mut multiplier = device.host_multiplier::<f32, f32>(1000).unwrap();
        for (m, k, n) in [(0, 3, 4), (3, 4, 0), (3, 0, 4), (0, 0, 0)] {
            let (a, b) = (data::<f32>(m * k), data::<f32>(k * n));
            let a = HostMatrix::new((m, k), &a).unwrap();
            let b = HostMatrix::new((k, n), &b).unwrap();
            let mut c = vec![7.0; m * n];
            multiplier.multiply(a, b, &mut c).unwrap();
            assert!(c.iter().all(|it| *it == 0.0));
            assert_eq!(device.matmul_host(a, b).unwrap(), c);
            assert_eq!(by_functions(&mut multiplier, (a, b)).0, c);
        }
    }
}

/// Sums without terms, of matrices without elements, whose panels can begin anywhere.
#[test]
fn products_without_k_are_zeros_in_panels() {
    for device in devices() {
        for (a_order, b_order) in ORDERS.into_iter().flat_map(|a| ORDERS.map(|b| (a, b))) {
            let a = HostMatrix::new((300, 0, a_order), &[0.0_f32; 0]).unwrap();
            let b = HostMatrix::new((0, 200, b_order), &[]).unwrap();
            let mut multiplier = device.host_multiplier::<f32, f32>(40_000).unwrap();
            let mut c = vec![1.0; 300 * 200];
            multiplier.multiply(a, b, &mut c).unwrap();
            assert!(c == vec![0.0; 300 * 200]);
        }
    }
}
