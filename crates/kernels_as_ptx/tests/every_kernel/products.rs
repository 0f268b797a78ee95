//! Products of f32 and f64: by chains, split, exact, with a vector, in parts of K and in groups.

use crate::cases::{Case, Cases, bytes};
use crate::numbers::{Number, matrix};
use std::fmt::Debug;
use tilewright::tuning::TileSize;
use tilewright::{
    Arithmetic, ChainElement, Device, Element, Matmul, MatmulElement, MatmulGroup, MatmulInto,
    Matrix, Order, Profile, Result,
};

/// Rows of A, columns of B, columns of A.
pub type Shape = [usize; 3];

pub const ORDERS: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];

pub const TILES: [TileSize; 3] = [TileSize::Small, TileSize::Medium, TileSize::Large];

/// The kernels of each compute capability.
pub const CAPABILITIES: [(u32, u32); 3] = [(9, 0), (8, 0), (7, 5)];

/// The four pairs of orders of A and B.
pub fn pairs_of_orders() -> impl Iterator<Item = [Order; 2]> {
    ORDERS.into_iter().flat_map(|a| ORDERS.map(|b| [a, b]))
}

/// A and B.
pub fn operands<T: Number>(
    device: &Device,
    [m, n, k]: Shape,
    [of_a, of_b]: [Order; 2],
) -> Result<(Matrix<T>, Matrix<T>)> {
    Ok((matrix(device, (m, k), of_a)?, matrix(device, (k, n), of_b)?))
}

/// What is asked of a product.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub arithmetic: Arithmetic,
    pub tiles: Option<TileSize>,
    pub capability: (u32, u32),
}

/// Of the newest kernels, which the library chooses.
pub const AUTO: Way = Way {
    arithmetic: Arithmetic::Auto,
    tiles: None,
    capability: (9, 0),
};

impl Way {
    /// The result of type `O` of a product that begins so.
    pub fn product<T: MatmulInto<O, S>, O: Element, S: Element>(
        self,
        product: Matmul<'_, T, S>,
    ) -> Result<Vec<u8>> {
        let (major, minor) = self.capability;
        let product = product.arithmetic(self.arithmetic);
        let product = product.compute_capability(major, minor);
        let product = self.tiles.into_iter().fold(product, Matmul::tiles);
        Ok(bytes(&product.run_as::<O>()?.to_vec()?))
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Cases::new();
    textbook::<f32>(&mut cases);
    textbook::<f64>(&mut cases);
    in_tiles::<f32>(&mut cases, Arithmetic::Chain);
    in_tiles::<f64>(&mut cases, Arithmetic::Chain);
    in_tiles::<f32>(&mut cases, Arithmetic::Split);
    unaligned_f64(&mut cases);
    split_lines(&mut cases);
    exact::<f32>(&mut cases);
    exact::<f64>(&mut cases);
    exact_on_a_large_device(&mut cases);
    with_vectors::<f32, f32>(&mut cases);
    with_vectors::<f64, f64>(&mut cases);
    grams::<f32>(&mut cases);
    grams::<f64>(&mut cases);
    groups::<f32>(&mut cases, [40, 33, 20]);
    groups::<f64>(&mut cases, [40, 33, 20]);
    cases.on_multiprocessors(1);
    groups::<f32>(&mut cases, [128, 252, 18]);
    cases.finish()
}

/// One product in each pair of orders.
fn add_products<T: MatmulInto<T> + Number + Debug>(cases: &mut Cases, shape: Shape, way: Way) {
    for orders in pairs_of_orders() {
        add_product::<T>(cases, shape, orders, way);
    }
}

fn add_product<T: MatmulInto<T> + Number + Debug>(
    cases: &mut Cases,
    shape: Shape,
    orders: [Order; 2],
    way: Way,
) {
    let name = format!("{shape:?} {orders:?} {way:?}");
    cases.add(name, move |device| {
        let (a, b) = operands::<T>(device, shape, orders)?;
        way.product::<T, T, _>(Matmul::new(&a, &b))
    });
}

/// One output for each thread.
fn textbook<T: ChainElement + Number>(cases: &mut Cases) {
    for orders in pairs_of_orders() {
        cases.add(format!("textbook {orders:?}"), move |device| {
            let (a, b) = operands::<T>(device, [20, 33, 18], orders)?;
            Ok(bytes(&device.matmul_tiled(&a, &b)?.to_vec()?))
        });
    }
}

/// In tiles of each size, by the kernels of each device, with rows that are and are not multiples of 16 bytes.
fn in_tiles<T: MatmulInto<T> + Number + Debug>(cases: &mut Cases, arithmetic: Arithmetic) {
    for capability in CAPABILITIES {
        let has_kernels = arithmetic != Arithmetic::Split || capability >= (8, 0);
        for tiles in TILES.into_iter().filter(|_| has_kernels) {
            let way = Way {
                arithmetic,
                tiles: Some(tiles),
                capability,
            };
            add_products::<T>(cases, [40, 36, 72], way);
            add_products::<T>(cases, [40, 33, 69], way);
        }
    }
}

/// So large that operands whose rows are not aligned are copied.
fn unaligned_f64(cases: &mut Cases) {
    cases.add("unaligned f64", |device| {
        let (a, b) = operands::<f64>(device, [641, 641, 1], [Order::RowMajor; 2])?;
        AUTO.product::<f64, f64, _>(Matmul::new(&a, &b))
    });
}

/// Lines that 32 are kept of by a block, that 8 are, and that a cluster keeps; with one that is too wide to be split.
fn split_lines(cases: &mut Cases) {
    let way = Way {
        arithmetic: Arithmetic::Split,
        ..AUTO
    };
    for k in [96, 520, 1540] {
        cases.add(format!("split of {k}"), move |device| {
            let (a, b) = operands::<f32>(device, [4, 8, k], ORDERS)?;
            way.product::<f32, f32, _>(Matmul::new(&a, &b))
        });
    }
    cases.on_profile(Profile::A100);
    let way = Way {
        capability: (8, 0),
        ..way
    };
    add_products::<f32>(cases, [8, 12, 70], way);
    cases.on_few_multiprocessors();
}

/// Outputs one by one, and products of residues in tiles of each size.
fn exact<T: ChainElement + MatmulInto<T> + Number + Debug>(cases: &mut Cases) {
    let exact = Way {
        arithmetic: Arithmetic::Exact,
        ..AUTO
    };
    add_products::<T>(cases, [20, 17, 33], exact);
    // In any orders, products of residues are those of rows and columns.
    for capability in CAPABILITIES {
        for tiles in TILES {
            let way = Way {
                tiles: Some(tiles),
                capability,
                ..exact
            };
            add_product::<T>(cases, [20, 17, 33], ORDERS, way);
        }
    }
}

/// Products of residues on a device that has room for all their tiles at once: those are deep.
fn exact_on_a_large_device(cases: &mut Cases) {
    cases.on_multiprocessors(1000);
    cases.add("residues in deep tiles", |device| {
        let (a, b) = operands::<f32>(device, [204, 204, 204], ORDERS)?;
        Ok(bytes(&device.matmul_exact(&a, &b)?.to_vec()?))
    });
    cases.on_few_multiprocessors();
}

/// By a column and by a row, so that the matrix lies along and across: in long rows and in short ones, in columns of
/// whole vectors and in others.
pub fn with_vectors<T: MatmulInto<O> + Number, O: Element>(cases: &mut Cases) {
    for order in ORDERS {
        for shape in [[40, 1, 300], [1, 40, 300], [41, 1, 30], [1, 41, 30]] {
            cases.add(format!("vector {shape:?} {order:?}"), move |device| {
                let (a, b) = operands::<T>(device, shape, [order; 2])?;
                AUTO.product::<T, O, _>(Matmul::new(&a, &b))
            });
        }
    }
}

/// The other half of a symmetric product is a copy.
pub fn grams<T: MatmulElement + Number>(cases: &mut Cases) {
    cases.add("gram", |device| {
        let a = matrix::<T>(device, (40, 48), Order::RowMajor)?;
        Ok(bytes(&device.gram(&a)?.to_vec()?))
    });
}

/// Products of unequal shapes in one launch.
pub fn groups<T: MatmulElement<Product: Element> + Number>(cases: &mut Cases, [m, n, k]: Shape) {
    for orders in pairs_of_orders() {
        cases.add(format!("group of {m} {orders:?}"), move |device| {
            let pairs = [[m, n, k], [m, n, 2 * k]].map(|it| operands::<T>(device, it, orders));
            let pairs = pairs.into_iter().collect::<Result<Vec<_>>>()?;
            let results = MatmulGroup::new(pairs.iter().map(|(a, b)| (a, b))).run()?;
            let results = results.iter().map(|it| Ok(bytes(&it.to_vec()?)));
            Ok(results.collect::<Result<Vec<_>>>()?.concat())
        });
    }
}
