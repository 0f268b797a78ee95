//! Matrices on the host, products in all orders, and bits that are compared.

use crate::common::share;
use half::{bf16, f16};
use std::any::type_name;
use std::fmt::Debug;
use tilewright::cuda_std::fp8::{F8E4M3, F8E5M2};
use tilewright::tuning::TileSize;
use tilewright::{
    Arithmetic, Device, Element, ErrorKind, Matmul, MatmulElement, MatmulInto, Matrix, Order,
    Profile, SimulatorOptions,
};
use tilewright_test_support::assert_kind;

pub const ORDERS: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];

/// Rows of A, columns of B, columns of A.
pub type Shape = (usize, usize, usize);

/// Those of the machines that run code for compute capability 9.0, which has warps of 32 threads.
pub fn hoppers(machines: Vec<Device>) -> Vec<Device> {
    let is_hopper = |device: &Device| {
        let properties = device.properties();
        properties.warp_threads == 32
            && matches!(properties.compute_capability, None | Some((9, 0)))
    };
    let (hoppers, others): (Vec<_>, Vec<_>) = machines.into_iter().partition(is_hopper);
    for other in others {
        println!("skipped: {} is not of compute capability 9.0", other.name());
    }
    hoppers
}

/// The machines that multiply split f32 on tensor cores: the hoppers, with `wgmma`, and the simulated A100, with
/// `mma.sync`.
pub fn splitters(machines: Vec<Device>) -> Vec<Device> {
    let mut splitters = hoppers(machines);
    splitters.push(ampere());
    splitters
}

/// Fails unless an older device, for which one with warps of 64 threads stands, has no kernel for elements that tensor
/// cores multiply.
pub fn an_older_device_has_no_kernel<T: MatmulElement<Product: Debug>>() {
    let options = SimulatorOptions::default().with_warp_width(64);
    let device = Device::simulator_with(options);
    let a = device.matrix_zeros::<T>((8, 8)).unwrap();
    let error = device.matmul(&a, &a).unwrap_err();
    assert_kind!(error is ErrorKind::NoKernel { .. });
}

/// The device, or the simulator without a limit of time: hundreds of stages take it seconds.
pub fn unlimited(device: Device) -> Device {
    let is_simulated = device.is_simulator();
    match is_simulated && device.properties().compute_capability.is_none() {
        true => Device::simulator_with(SimulatorOptions::default().with_time_limit(None)),
        false => device,
    }
}

/// A device, and the compute capability whose kernels it uses.
#[derive(Clone, Debug)]
pub struct Way {
    pub device: Device,
    pub capability: Option<(u32, u32)>,
}

impl From<&Device> for Way {
    fn from(device: &Device) -> Self {
        Self {
            device: device.clone(),
            capability: None,
        }
    }
}

impl From<&Way> for Way {
    fn from(way: &Way) -> Self {
        way.clone()
    }
}

/// A simulator that stands for an A100.
pub fn ampere() -> Device {
    Device::simulator_with(SimulatorOptions::default().with_profile(Profile::A100))
}

/// A matrix on the host, row after row.
#[derive(Clone)]
pub struct Host<T> {
    pub rows: usize,
    pub columns: usize,
    pub elements: Vec<T>,
}

impl<T: Element + Debug> Host<T> {
    pub fn new(rows: usize, columns: usize, mut element: impl FnMut(usize, usize) -> T) -> Self {
        let places = (0..rows * columns).map(|i| (i / columns, i % columns));
        Self {
            rows,
            columns,
            elements: places.map(|(row, column)| element(row, column)).collect(),
        }
    }

    pub fn upload(&self, device: &Device, order: Order) -> Matrix<T> {
        let mut matrix = device
            .matrix_uninit::<T>((self.rows, self.columns, order))
            .unwrap();
        let elements: Vec<T> = match order {
            Order::RowMajor => self.elements.clone(),
            Order::ColumnMajor => (0..self.columns)
                .flat_map(|column| (0..self.rows).map(move |row| row * self.columns + column))
                .map(|place| self.elements[place])
                .collect(),
        };
        let line = match order {
            Order::RowMajor => self.columns,
            Order::ColumnMajor => self.rows,
        };
        matrix
            .view_mut()
            .copy_from_strided(&elements, line)
            .unwrap();
        matrix
    }
}

pub trait Bits: Copy {
    fn bits(self) -> u64;
}
impl Bits for f32 {
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}
impl Bits for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
}
impl Bits for i32 {
    fn bits(self) -> u64 {
        u64::from(self as u32)
    }
}
impl Bits for f16 {
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}
impl Bits for bf16 {
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

impl Bits for F8E4M3 {
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}
impl Bits for F8E5M2 {
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

fn bits<T: Bits + Copy>(elements: &[T]) -> Vec<u64> {
    elements.iter().map(|it| it.bits()).collect()
}

/// Fails at the first element that has other bits.
#[track_caller]
pub fn assert_same_bits<T: Bits + Copy>(found: &[T], expected: &[T], case: &dyn Debug) {
    let (found, expected) = (bits(found), bits(expected));
    assert_eq!(found.len(), expected.len());
    let different = (0..found.len()).find(|&i| found[i] != expected[i]);
    if let Some(i) = different {
        panic!(
            "{:#x} instead of {:#x} at {i}: {case:?}",
            found[i], expected[i]
        );
    }
}

/// The orders of A, B and C.
pub type Orders = [Order; 3];

/// Number `number` of the eight ways to order three matrices.
pub fn orders(number: usize) -> Orders {
    [0, 1, 2].map(|bit| ORDERS[number >> bit & 1])
}

/// The product of matrices in these orders, in `tiles` or in those that are selected.
pub fn product_in<T: MatmulInto<T> + Debug>(
    orders: Orders,
    tiles: impl Into<Option<TileSize>>,
    way: impl Into<Way>,
    arithmetic: Arithmetic,
    a: &Host<T>,
    b: &Host<T>,
) -> Vec<T> {
    let Way { device, capability } = way.into();
    let [of_a, of_b, of_c] = orders;
    let (left, right) = (a.upload(&device, of_a), b.upload(&device, of_b));
    let mut c = device.matrix_zeros::<T>((a.rows, b.columns, of_c)).unwrap();
    let mut product = Matmul::new(&left, &right).arithmetic(arithmetic);
    if let Some(tiles) = tiles.into() {
        product = product.tiles(tiles);
    }
    if let Some((major, minor)) = capability {
        product = product.compute_capability(major, minor);
    }
    product.run_into(&mut c).unwrap();
    c.to_vec().unwrap()
}

/// The product of matrices in all orders, in tiles of each size and in those that are selected, which all have the same
/// bits; in a [share](share) of them.
pub fn product<T: MatmulInto<T> + Debug + Bits>(
    way: impl Into<Way>,
    arithmetic: Arithmetic,
    a: &Host<T>,
    b: &Host<T>,
) -> Vec<T> {
    use TileSize::{Large, Medium, Small};
    let way = &way.into();
    let first = product_in(orders(0), Small, way, arithmetic, a, b);
    let in_small = (1..8).map(|it| (it, Some(Small)));
    let in_others = [(0, Large), (5, Large), (3, Medium), (6, Medium)];
    let in_others = in_others.map(|(number, tiles)| (number, Some(tiles)));
    let cases = in_small
        .chain(in_others)
        .chain((0..4).map(|it| (2 * it, None)));
    let test = (a.rows, b.columns, a.columns, type_name::<T>());
    for (number, tiles) in share(test, cases) {
        let found = product_in(orders(number), tiles, way, arithmetic, a, b);
        assert_same_bits(&found, &first, &(orders(number), tiles, way));
    }
    first
}
