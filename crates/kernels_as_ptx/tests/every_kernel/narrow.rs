//! Products of elements of 16 and 8 bits, on tensor cores.

use crate::cases::{Case, Cases};
use crate::numbers::Number;
use crate::products::{
    AUTO, CAPABILITIES, ORDERS, Shape, TILES, Way, grams, groups, operands, pairs_of_orders,
    with_vectors,
};
use half::{bf16, f16};
use tilewright::cuda_std::fp8::{F8E4M3, F8E5M2};
use tilewright::{Element, Matmul, MatmulElement, MatmulInto, Matrix, Order, Profile};

/// How a product begins.
type New<T, S> = for<'a> fn(&'a Matrix<T>, &'a Matrix<T>) -> Matmul<'a, T, S>;

/// Few rows or few columns, with the orders that have a kernel for them in tiles of each size, on 8 multiprocessors.
const SKINNY: [(Shape, Order); 5] = [
    ([7, 202, 64], Order::RowMajor),
    ([17, 513, 512], Order::RowMajor),
    ([512, 63, 512], Order::ColumnMajor),
    ([33, 513, 520], Order::RowMajor),
    ([515, 97, 520], Order::ColumnMajor),
];

/// The compute capabilities with kernels of their own.
const OF_FLOATS_OF_BYTES: &[(u32, u32)] = &[(9, 0)];
const OF_HALVES: &[(u32, u32)] = &[(9, 0), (8, 0)];
const OF_INTEGERS: &[(u32, u32)] = &CAPABILITIES;

pub fn cases() -> Vec<Case> {
    let mut cases = Cases::new();
    halves::<f16>(&mut cases);
    halves::<bf16>(&mut cases);
    floats_of_bytes::<F8E4M3>(&mut cases);
    floats_of_bytes::<F8E5M2>(&mut cases);
    integers(&mut cases);
    cases.finish()
}

/// Elements of 16 bits, whose products are of their type or f32.
trait Half:
    MatmulInto<Self> + MatmulInto<f32> + MatmulElement<Product = Self, Accumulator = f32> + Number
{
}
impl Half for f16 {}
impl Half for bf16 {}

fn halves<T: Half>(cases: &mut Cases) {
    of_types::<T, T, f32>(cases, OF_HALVES, |a, b| Matmul::new(a, b));
    of_types::<T, f32, f32>(cases, OF_HALVES, |a, b| Matmul::new(a, b));
    grams::<T>(cases);
    groups::<T>(cases, [40, 24, 64]);
    with_vectors::<T, T>(cases);
    with_vectors::<T, f32>(cases);
    cases.on_multiprocessors(2);
    for order in ORDERS {
        turned::<T, T>(cases, order);
        turned::<T, f32>(cases, order);
    }
    cases.on_few_multiprocessors();
}

fn floats_of_bytes<T>(cases: &mut Cases)
where
    T: MatmulInto<bf16> + MatmulInto<f32> + MatmulElement<Accumulator = f32> + Number,
{
    of_types::<T, bf16, f32>(cases, OF_FLOATS_OF_BYTES, |a, b| Matmul::new(a, b));
    of_types::<T, f32, f32>(cases, OF_FLOATS_OF_BYTES, |a, b| Matmul::new(a, b));
}

fn integers(cases: &mut Cases) {
    of_types::<i8, i32, i32>(cases, OF_INTEGERS, |a, b| Matmul::new(a, b));
    of_types::<i8, f32, f32>(cases, OF_HALVES, |a, b| Matmul::dequantized(a, b));
    of_types::<i8, f16, f32>(cases, OF_HALVES, |a, b| Matmul::dequantized(a, b));
    of_types::<i8, bf16, f32>(cases, OF_HALVES, |a, b| Matmul::dequantized(a, b));
}

/// A result that tiles of 144 x 128 fill the device with, if A lies along K.
fn turned<T: MatmulInto<O, f32> + MatmulElement<Accumulator = f32> + Number, O: Element>(
    cases: &mut Cases,
    order: Order,
) {
    cases.add("turned", move |device| {
        let (a, b) = operands::<T>(device, [144, 256, 64], [Order::RowMajor, order])?;
        AUTO.product::<T, O, f32>(Matmul::new(&a, &b))
    });
}

/// Every kernel of an element type and an output type.
fn of_types<T, O, S>(cases: &mut Cases, capabilities: &[(u32, u32)], new: New<T, S>)
where
    T: MatmulInto<O, S> + Number,
    O: Element,
    S: Element,
{
    for orders in pairs_of_orders() {
        for (tiles, &capability) in TILES
            .iter()
            .flat_map(|it| capabilities.iter().map(move |of| (it, of)))
        {
            let tiles = Some(*tiles);
            let way = Way {
                tiles,
                capability,
                ..AUTO
            };
            add::<T, O, S>(cases, [40, 48, 64], orders, way, new);
        }
        // A block without a cluster, and deep tiles.
        add::<T, O, S>(cases, [64, 64, 64], orders, AUTO, new);
        add::<T, O, S>(cases, [200, 200, 64], orders, AUTO, new);
    }
    for ((shape, order), other) in SKINNY
        .iter()
        .flat_map(|it| ORDERS.map(|other| (*it, other)))
    {
        // The long side's operand may lie in either order.
        let orders = match shape[0] < shape[1] {
            true => [order, other],
            false => [other, order],
        };
        add::<T, O, S>(cases, shape, orders, AUTO, new);
    }
    // Vectors of bytes, and K in parts.
    let capability = (8, 0);
    add::<T, O, S>(cases, [40, 1, 300], ORDERS, Way { capability, ..AUTO }, new);
    add::<T, O, S>(cases, [4, 8, 6656], ORDERS, AUTO, new);
    if capabilities.contains(&capability) {
        cases.on_profile(Profile::A100);
        add::<T, O, S>(cases, [4, 8, 6656], ORDERS, AUTO, new);
        cases.on_few_multiprocessors();
    }
}

fn add<T, O, S>(cases: &mut Cases, shape: Shape, orders: [Order; 2], way: Way, new: New<T, S>)
where
    T: MatmulInto<O, S> + Number,
    O: Element,
    S: Element,
{
    let name = format!("{shape:?} {orders:?} {way:?}");
    cases.add(name, move |device| {
        let (a, b) = operands::<T>(device, shape, orders)?;
        way.product::<T, O, S>(new(&a, &b))
    });
}
