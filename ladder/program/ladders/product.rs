//! The product ladder.

use super::case::{Case, Ladder, Rate, Scale, Section, Title, Trial};
use crate::rivals::Rivals;
use crate::rivals::cublas::CuBlas;
use crate::support::Outcome;
use std::rc::Rc;
use tilewright::{Buffer, Device, Matrix, Order};
use tilewright_ladder::product::{self, CoarseFactor, Step};

pub const LADDER: Ladder = Ladder {
    name: "product",
    title: "The product of two matrices, from global memory alone to matmul_coarsened",
    sections,
};

/// Rows and columns of the timed matrices, and of the counted ones.
const SIZE: usize = 4096;
const COUNTED_SIZE: usize = 128;

/// Elements of the timed and counted vector additions.
const ADDITION: usize = 1 << 26;
const COUNTED_ADDITION: usize = 1 << 16;

/// The parameter of all sections.
const FACTOR: &str = "COARSE_FACTOR";

fn sections(device: &Device) -> Outcome<Vec<Section>> {
    Ok(vec![
        steps(Rivals::of_products(device).cublas),
        orders(),
        no_price(),
        too_little_parallelism("parallelism-256", 256),
        too_little_parallelism("parallelism-512", 512),
        too_little_parallelism("parallelism-1024", 1024),
    ])
}

fn steps(cublas: Option<Rc<CuBlas>>) -> Section {
    let mut cases: Vec<Case> = Step::ALL.into_iter().map(|step| case(step, SIZE)).collect();
    if let Some(cublas) = cublas {
        let prepare = move |device: &Device, scale: Scale| {
            let (cublas, size) = (Rc::clone(&cublas), scale.pick(SIZE, COUNTED_SIZE));
            Product::new(device, size, [Order::RowMajor; 2], move |_, a, b, c| {
                cublas.multiply(a, b, c, 1)
            })
        };
        cases.push(Case::new("cuBLAS", "the rival, without TF32", prepare).uncounted());
    }
    Section {
        name: "steps",
        title: square(SIZE, ""),
        rate: Rate::FlopsPerSecond,
        parameter: FACTOR,
        baseline: "uncoalesced",
        cases,
    }
}

/// The title of a section with `timed` rows in its timed matrices.
fn square(timed: usize, rest: &str) -> Title {
    Title::new(|scale| {
        let size = scale.pick(timed, COUNTED_SIZE);
        format!("C = A B in f32, {size} x {size}{rest}")
    })
}

/// A step of the ladder, timed with matrices of `size` rows.
fn case(step: Step, size: usize) -> Case {
    let info = step.info();
    let prepare = move |device: &Device, scale: Scale| {
        let orders = [Order::RowMajor, step.order_of_b()];
        let size = scale.pick(size, COUNTED_SIZE);
        Product::new(device, size, orders, move |device, a, b, c| {
            Ok(product::launch(device, step, a, b, c)?)
        })
    };
    let case = Case::new(info.term, info.change, prepare);
    match step {
        Step::Coarsened(factor) => case.with_parameter(factor.get() as u32),
        Step::CoarsenedOneBlock => case.with_parameter(8),
        _ => case,
    }
}

/// The library's products for operands in every order.
fn orders() -> Section {
    const ORDERS: [(&str, [Order; 2]); 4] = [
        ("row-major A and B", [Order::RowMajor, Order::RowMajor]),
        ("column-major A", [Order::ColumnMajor, Order::RowMajor]),
        ("column-major B", [Order::RowMajor, Order::ColumnMajor]),
        (
            "column-major A and B",
            [Order::ColumnMajor, Order::ColumnMajor],
        ),
    ];
    let kernels: [(&str, Multiply); 2] = [
        ("matmul_coarsened", |device, a, b, c| {
            Ok(device.matmul_coarsened_into(a, b, c)?)
        }),
        ("matmul_tiled", |device, a, b, c| {
            Ok(device.matmul_tiled_into(a, b, c)?)
        }),
    ];
    let cases = kernels.into_iter().flat_map(|(kernel, multiply)| {
        ORDERS.map(|(name, orders)| {
            let prepare = move |device: &Device, scale: Scale| {
                Product::new(device, scale.pick(SIZE, COUNTED_SIZE), orders, multiply)
            };
            Case::new(format!("{kernel}, {name}"), "", prepare)
        })
    });
    Section {
        name: "orders",
        title: square(SIZE, ", operands in every order"),
        rate: Rate::FlopsPerSecond,
        parameter: "",
        baseline: "",
        cases: cases.collect(),
    }
}

/// The first pitfall: coarsening without redundant work to save.
fn no_price() -> Section {
    let cases = CoarseFactor::ALL.map(|factor| {
        let prepare = move |device: &Device, scale: Scale| Addition::new(device, scale, factor);
        Case::new("vector addition", "", prepare).with_parameter(factor.get() as u32)
    });
    Section {
        name: "addition",
        title: Title::new(|scale| {
            let elements = scale.pick(ADDITION, COUNTED_ADDITION);
            format!("z = x + y in f32, {elements} elements: no price to save")
        }),
        rate: Rate::BytesPerSecond,
        parameter: FACTOR,
        baseline: "",
        cases: cases.into(),
    }
}

/// The second pitfall: factors that leave too few blocks for the device.
fn too_little_parallelism(name: &'static str, size: usize) -> Section {
    let cases = CoarseFactor::ALL.map(|factor| case(Step::Coarsened(factor), size));
    Section {
        name,
        title: square(size, ": too little parallelism"),
        rate: Rate::FlopsPerSecond,
        parameter: FACTOR,
        baseline: "",
        cases: cases.into(),
    }
}

type Multiply = fn(&Device, &Matrix<f32>, &Matrix<f32>, &mut Matrix<f32>) -> Outcome;

/// A product of square matrices of small integers, exact in f32.
struct Product<F> {
    device: Device,
    a: Matrix<f32>,
    b: Matrix<f32>,
    c: Matrix<f32>,
    multiply: F,
    probe: Vec<i64>,
    /// A (B probe).
    expected: Vec<i64>,
}

impl<F> Product<F>
where
    F: FnMut(&Device, &Matrix<f32>, &Matrix<f32>, &mut Matrix<f32>) -> Outcome,
{
    fn new(device: &Device, size: usize, orders: [Order; 2], multiply: F) -> Outcome<Self> {
        let mut bits = 0x2545_F491_4F6C_DD1D_u64;
        let mut random = move || {
            bits = bits.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            bits >> 33
        };
        // From -8 to 7: a sum of 4096 products is below 2^24.
        let mut elements = || -> Vec<f32> {
            (0..size * size)
                .map(|_| (random() % 16) as f32 - 8.0)
                .collect()
        };
        let (a, b) = (elements(), elements());
        let probe: Vec<i64> = (0..size).map(|_| random() as i64).collect();
        let upload = |elements: &[f32], order| match order {
            Order::RowMajor => device.matrix((size, size), elements),
            Order::ColumnMajor => device.matrix((size, size, Order::ColumnMajor), elements),
        };
        let [order_of_a, order_of_b] = orders;
        let of_b = times(&b, order_of_b, &probe);
        Ok(Self {
            device: device.clone(),
            expected: times(&a, order_of_a, &of_b),
            a: upload(&a, order_of_a)?,
            b: upload(&b, order_of_b)?,
            c: device.matrix_zeros((size, size))?,
            multiply,
            probe,
        })
    }
}

/// A square matrix of integers times a vector, modulo 2^64.
fn times(matrix: &[f32], order: Order, vector: &[i64]) -> Vec<i64> {
    let size = vector.len();
    let mut product = vec![0_i64; size];
    for (index, &element) in matrix.iter().enumerate() {
        let (row, column) = match order {
            Order::RowMajor => (index / size, index % size),
            Order::ColumnMajor => (index % size, index / size),
        };
        let term = vector[column].wrapping_mul(element as i64);
        product[row] = product[row].wrapping_add(term);
    }
    product
}

impl<F> Trial for Product<F>
where
    F: FnMut(&Device, &Matrix<f32>, &Matrix<f32>, &mut Matrix<f32>) -> Outcome,
{
    fn launch(&mut self) -> Outcome {
        (self.multiply)(&self.device, &self.a, &self.b, &mut self.c)
    }

    /// Multiplies both sides of C = A B by one vector (Freivalds, Probabilistic machines can use
    /// less running time, 1977): the result depends on every element of C.
    fn check(&mut self) -> Outcome {
        let c = self.c.to_vec()?;
        if c.iter().any(|element| element.fract() != 0.0) {
            return Err("an element of the product is no integer".into());
        }
        if times(&c, Order::RowMajor, &self.probe) == self.expected {
            return Ok(());
        }
        Err("the product is not that of its factors".into())
    }

    fn work(&self) -> f64 {
        2.0 * (self.c.rows() as f64).powi(3)
    }
}

/// A vector addition with several elements per thread.
struct Addition {
    device: Device,
    factor: CoarseFactor,
    x: Buffer<f32>,
    y: Buffer<f32>,
    z: Buffer<f32>,
}

impl Addition {
    fn new(device: &Device, scale: Scale, factor: CoarseFactor) -> Outcome<Self> {
        let elements = scale.pick(ADDITION, COUNTED_ADDITION);
        let numbers =
            |step: usize| -> Vec<f32> { (0..elements).map(|i| (i * step % 4096) as f32).collect() };
        Ok(Self {
            device: device.clone(),
            factor,
            x: device.upload(&numbers(1))?,
            y: device.upload(&numbers(7))?,
            z: device.zeros(elements)?,
        })
    }
}

impl Trial for Addition {
    fn launch(&mut self) -> Outcome {
        let Self {
            device,
            factor,
            x,
            y,
            z,
        } = self;
        Ok(product::launch_addition(device, *factor, x, y, z)?)
    }

    fn check(&mut self) -> Outcome {
        let (x, y, z) = (self.x.to_vec()?, self.y.to_vec()?, self.z.to_vec()?);
        let is_sum = |((x, y), z): ((&f32, &f32), &f32)| x + y == *z;
        if x.iter().zip(&y).zip(&z).all(is_sum) {
            return Ok(());
        }
        Err("an element is not the sum of two".into())
    }

    fn work(&self) -> f64 {
        (3 * size_of::<f32>() * self.z.len()) as f64
    }
}
