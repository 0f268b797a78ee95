//! Products of f16, bf16 and i8 by warps: the kernels of compute capability 8.0 and later, on every device.

use crate::common::exact::Compensated;
use crate::common::random::Random;
use crate::common::{devices, share};
use crate::harness::{Bits, Host, ORDERS, Shape, ampere, assert_same_bits, hoppers};
use half::{bf16, f16};
use simt::tensor::{FloatUnit, WarpUnits};
use std::any::type_name;
use std::fmt::Debug;
use tilewright::tuning::TileSize;
use tilewright::{
    Activation, Device, Matmul, MatmulElement, MatmulInto, Matrix, Profile, SimulatorOptions,
};

const TILES: [TileSize; 2] = [TileSize::Small, TileSize::Large];

/// Whole tiles and tails of both sizes, a K of less than a stage and of more than all of them, and rows that are
/// and are not multiples of 16 bytes.
const SHAPES: [Shape; 5] = [
    (2, 3, 1),
    (128, 64, 64),
    (65, 136, 160),
    (130, 33, 71),
    (16, 24, 0),
];

trait Half:
    MatmulInto<Self> + MatmulInto<f32> + MatmulElement<Product = Self, Accumulator = f32> + Debug + Bits
{
    fn of(value: f64) -> Self;
    fn rounded(value: f32) -> Self;
    fn widened(self) -> f64;
    /// The tensor core's product on one generation of chips.
    fn unit(units: WarpUnits) -> FloatUnit;
}

macro_rules! halves {
    ($($half:ident)*) => {$(
        impl Half for $half {
            fn of(value: f64) -> Self {
                Self::from_f64(value)
            }
            fn rounded(value: f32) -> Self {
                Self::from_f32(value)
            }
            fn widened(self) -> f64 {
                self.to_f64()
            }
            fn unit(units: WarpUnits) -> FloatUnit {
                units.$half
            }
        }
    )*};
}
halves!(f16 bf16);

/// Every device that has products of warps on tensor cores.
fn machines() -> Vec<Device> {
    let mut machines = vec![ampere()];
    machines.extend(devices());
    machines.retain(|it| {
        it.properties()
            .compute_capability
            .is_none_or(|it| it >= (8, 0))
    });
    machines
}

fn units(device: &Device) -> WarpUnits {
    match device.properties().compute_capability {
        Some((major, _)) => WarpUnits::of_compute_capability(major),
        None => WarpUnits::SM_90,
    }
}

/// The product by the kernels of an older device.
fn by_warps<'a, T: MatmulInto<T>>(a: &'a Matrix<T>, b: &'a Matrix<T>) -> Matmul<'a, T> {
    Matmul::new(a, b).compute_capability(8, 0)
}

fn random<T: Half>(seed: u64, (m, n, k): Shape) -> (Host<T>, Host<T>) {
    let mut random = Random::new(seed);
    let mut element = |_, _| T::of(random.signed_unit());
    (Host::new(m, k, &mut element), Host::new(k, n, &mut element))
}

/// The sums of a tensor core: steps of 16 k, each with the sum so far.
fn sums<T: Half>(unit: FloatUnit, a: &Host<T>, b: &Host<T>, (m, n, k): Shape) -> Vec<f32> {
    let padded = k.max(1).next_multiple_of(16);
    let sum = |i: usize| {
        let mut left = vec![0_u32; padded];
        let mut right = left.clone();
        for j in 0..k {
            left[j] = a.elements[i / n * k + j].bits() as u32;
            right[j] = b.elements[j * n + i % n].bits() as u32;
        }
        f32::from_bits(unit.dot(&left, &right, 0))
    };
    (0..m * n).map(sum).collect()
}

for_each_type! {
    [f16 bf16]
    products_have_the_bits_of_the_chip
    warps_and_warpgroups_have_the_same_bits
    a_batch_has_the_bits_of_its_products
    long_sums_keep_the_bound
}

/// In every order of A and B, in both sizes of tiles, rounded and in f32.
fn products_have_the_bits_of_the_chip<T: Half>() {
    for (number, shape) in SHAPES.into_iter().enumerate() {
        let (m, n, _) = shape;
        let (a, b) = random::<T>(number as u64, shape);
        for device in machines() {
            let wide = sums(T::unit(units(&device)), &a, &b, shape);
            let narrow: Vec<T> = wide.iter().copied().map(T::rounded).collect();
            for way in share((type_name::<T>(), shape), 0..8) {
                let [of_a, of_b, of_c] = [0, 1, 2].map(|bit| ORDERS[(way + number) >> bit & 1]);
                let (left, right) = (a.upload(&device, of_a), b.upload(&device, of_b));
                let tiles = TILES[way / 2 % 2];
                let product = by_warps(&left, &right).tiles(tiles);
                let case = (shape, of_a, of_b, of_c, tiles, &device);
                assert!(product.plan().unwrap().kernel.starts_with("matmul_mma_"));
                let mut c = device.matrix_zeros::<T>((m, n, of_c)).unwrap();
                product.run_into(&mut c).unwrap();
                assert_same_bits(&c.to_vec().unwrap(), &narrow, &case);
                let c = product.run_as::<f32>().unwrap().to_vec().unwrap();
                assert_same_bits(&c, &wide, &case);
            }
        }
    }
}

/// On one device, with an epilogue that reads C, of parts of matrices whose rows start anywhere.
fn warps_and_warpgroups_have_the_same_bits<T: Half>() {
    let (m, n, k) = (70, 90, 50);
    let (whole_a, whole_b) = random::<T>(7, (m + 3, n + 5, k + 2));
    for device in hoppers(devices()) {
        for order in ORDERS {
            let (a, b) = (
                whole_a.upload(&device, order),
                whole_b.upload(&device, order),
            );
            let a = a.slice(1..m + 1, 1..k + 1).unwrap();
            let b = b.slice(1..k + 1, 3..n + 3).unwrap();
            let bias: Vec<f32> = (0..n).map(|i| i as f32 / 16.0).collect();
            let (bias, scale) = (
                device.upload(&bias).unwrap(),
                device.upload(&vec![0.3; m]).unwrap(),
            );
            let product = Matmul::new(a, b)
                .alpha(-1.7)
                .beta(0.6)
                .row_scale(&scale)
                .column_bias(&bias)
                .activation(Activation::Silu);
            let run = |product: Matmul<'_, T>| {
                let old: Vec<T> = (0..m * n).map(|i| T::of((i % 17) as f64)).collect();
                let mut c = device.matrix((m, n), &old).unwrap();
                product.run_into(&mut c).unwrap();
                c.to_vec().unwrap()
            };
            let expected = run(product);
            for tiles in TILES {
                let found = run(product.compute_capability(8, 6).tiles(tiles));
                assert_same_bits(&found, &expected, &(order, tiles, &device));
            }
        }
    }
}

fn a_batch_has_the_bits_of_its_products<T: Half>() {
    const COUNT: usize = 3;
    let (m, n, k) = (20, 36, 24);
    let (a, b) = random::<T>(3, (COUNT * m, n, k));
    for device in machines() {
        for order in ORDERS {
            let (a, b) = (a.upload(&device, order), b.upload(&device, order));
            let batch = a.view().batch_rows(COUNT).unwrap();
            let all = Matmul::new(batch, &b).compute_capability(8, 0);
            let all = all.run().unwrap().to_vec().unwrap();
            let each = by_warps(&a, &b).run().unwrap().to_vec().unwrap();
            assert_same_bits(&all, &each, &(order, &device));
        }
    }
}

/// 11 units of 2^-24 |A||B| for each 8 products on compute capability 8.x, 10.5 for each 16 on 9.0.
fn long_sums_keep_the_bound<T: Half>() {
    let shape = (1, 64, 4000);
    let (_, n, k) = shape;
    let mut random = Random::new(9);
    let mut element = |_, _| T::of(random.signed_unit().abs());
    let (a, b) = (Host::new(2, k, &mut element), Host::new(k, n, &mut element));
    for device in machines() {
        let (left, right) = (a.upload(&device, ORDERS[0]), b.upload(&device, ORDERS[0]));
        let found = by_warps(&left, &right)
            .run_as::<f32>()
            .unwrap()
            .to_vec()
            .unwrap();
        let units_of_k = match units(&device) == WarpUnits::SM_80 {
            true => 11 * k / 8,
            false => 21 * k / 32,
        };
        for (i, &found) in found.iter().enumerate() {
            let mut exact = Compensated::default();
            for j in 0..k {
                let (a, b) = (a.elements[i / n * k + j], b.elements[j * n + i % n]);
                exact.add_product(a.widened(), b.widened());
            }
            exact.assert_close(found, units_of_k);
        }
    }
}

/// NaN and infinities at the borders of an instruction's products, and in the last.
#[test]
fn what_is_no_number_goes_through() {
    let (m, n, k) = (1, 2, 40);
    for device in machines() {
        for place in [0, 15, 16, 39] {
            let a = Host::new(m + 1, k, |row, column| match (row, column == place) {
                (0, true) => bf16::NAN,
                (1, true) => bf16::NEG_INFINITY,
                _ => bf16::ONE,
            });
            let b = Host::new(k, n, |_, _| bf16::ONE);
            let (a, b) = (a.upload(&device, ORDERS[0]), b.upload(&device, ORDERS[1]));
            let c = by_warps(&a, &b).run_as::<f32>().unwrap().to_vec().unwrap();
            assert_eq!(
                c[..n].iter().map(|it| it.to_bits()).collect::<Vec<_>>(),
                [0x7fff_ffff; 2]
            );
            assert_eq!(c[n..], [f32::NEG_INFINITY; 2], "{place}, {}", device.name());
        }
    }
}

/// Tensor cores of compute capability 7.5 have other products.
#[test]
fn the_oldest_devices_have_no_kernel_for_halves() {
    let options = SimulatorOptions::default().with_profile(Profile::T4);
    let device = Device::simulator_with(options);
    let a: Matrix<f16> = device.matrix_zeros((8, 8)).unwrap();
    assert!(Matmul::new(&a, &a).plan().is_err());
    let bytes: Matrix<i8> = device.matrix_zeros((8, 8)).unwrap();
    let plan = Matmul::new(&bytes, &bytes).plan().unwrap();
    assert_eq!(plan.kernel, "matmul_coarsened_small_i8");
}

/// The kernels that an A100 selects by default.
#[test]
fn an_older_device_multiplies_by_warps() {
    fn kernel<T: MatmulInto<<T as MatmulElement>::Product>>() -> &'static str {
        let device = ampere();
        let a: Matrix<T> = device.matrix_zeros((8, 8)).unwrap();
        Matmul::new(&a, &a).plan().unwrap().kernel
    }
    assert_eq!(kernel::<f16>(), "matmul_mma_small_f16_nn");
    assert_eq!(kernel::<bf16>(), "matmul_mma_small_bf16_nn");
    assert_eq!(kernel::<i8>(), "matmul_mma_small_i8");
}
