//! The ladder of products on tensor cores.

use super::case::{Case, Ladder, Rate, Scale, Section, Title, Trial};
use crate::rivals::Rivals;
use crate::rivals::cublas::CuBlas;
use crate::support::Outcome;
use half::bf16;
use std::rc::Rc;
use tilewright::{Device, Matrix, Order};
use tilewright_ladder::tensor::{self, Step};
use tilewright_test_support::random::Random;

pub const LADDER: Ladder = Ladder {
    name: "tensor",
    title: "The product on tensor cores, from products of a warp to cuBLAS's speed",
    sections,
};

/// Rows and columns of the timed matrices, and of the counted ones.
const SIZES: [usize; 3] = [2048, 4096, 8192];
const COUNTED_SIZE: usize = 256;

fn sections(device: &Device) -> Outcome<Vec<Section>> {
    let cublas = Rivals::of_products(device).cublas;
    let sections = SIZES.map(|size| section(cublas.clone(), size));
    Ok(sections.into())
}

fn section(cublas: Option<Rc<CuBlas>>, size: usize) -> Section {
    let mut cases: Vec<Case> = Step::ALL.into_iter().map(|step| case(step, size)).collect();
    for (name, order) in [
        ("cuBLAS", Order::ColumnMajor),
        ("cuBLAS, row-major B", Order::RowMajor),
    ] {
        let Some(cublas) = cublas.clone() else {
            continue;
        };
        let prepare = move |device: &Device, scale: Scale| {
            let cublas = Rc::clone(&cublas);
            let size = scale.pick(size, COUNTED_SIZE);
            Product::new(device, size, order, move |_, a, b, c| {
                cublas.multiply_halves(a, b, c)
            })
        };
        cases.push(Case::new(name, "the rival", prepare).uncounted());
    }
    Section {
        name: match size {
            2048 => "2048",
            4096 => "4096",
            _ => "8192",
        },
        title: Title::new(|scale| {
            let size = scale.pick(size, COUNTED_SIZE);
            format!("C = A B in bf16 with f32 accumulators, {size} x {size}")
        }),
        rate: Rate::FlopsPerSecond,
        parameter: "",
        baseline: "",
        cases,
    }
}

fn case(step: Step, size: usize) -> Case {
    let info = step.info();
    let prepare = move |device: &Device, scale: Scale| {
        let size = scale.pick(size, COUNTED_SIZE);
        Product::new(device, size, step.order_of_b(), move |device, a, b, c| {
            Ok(tensor::launch(device, step, a, b, c)?)
        })
    };
    Case::new(info.term, info.change, prepare)
}

/// A product of square matrices with random elements from -1 to 1: the power that a product draws depends on the
/// operands' set bits.
struct Product<F> {
    device: Device,
    elements: [Vec<bf16>; 2],
    a: Matrix<bf16>,
    b: Matrix<bf16>,
    order_of_b: Order,
    c: Matrix<bf16>,
    multiply: F,
}

/// The number of compared outputs.
const COMPARED: usize = 2000;

impl<F> Product<F>
where
    F: FnMut(&Device, &Matrix<bf16>, &Matrix<bf16>, &mut Matrix<bf16>) -> Outcome,
{
    fn new(device: &Device, size: usize, order_of_b: Order, multiply: F) -> Outcome<Self> {
        let elements: [Vec<bf16>; 2] = [1, 2].map(|seed| {
            let mut random = Random::new(seed);
            let element = || bf16::from_f64(random.signed_unit());
            std::iter::repeat_with(element).take(size * size).collect()
        });
        let b = match order_of_b {
            Order::RowMajor => device.matrix((size, size), &elements[1]),
            Order::ColumnMajor => device.matrix((size, size, order_of_b), &elements[1]),
        };
        Ok(Self {
            device: device.clone(),
            a: device.matrix((size, size), &elements[0])?,
            b: b?,
            elements,
            order_of_b,
            c: device.matrix_zeros((size, size))?,
            multiply,
        })
    }

    /// The output at (`row`, `column`), and the sum of the absolute values of its products.
    fn exact(&self, row: usize, column: usize) -> (f64, f64) {
        let size = self.a.rows();
        let [a, b] = &self.elements;
        let products = (0..size).map(|k| {
            let of_b = match self.order_of_b {
                Order::RowMajor => b[k * size + column],
                Order::ColumnMajor => b[column * size + k],
            };
            a[row * size + k].to_f64() * of_b.to_f64()
        });
        products.fold((0.0, 0.0), |(sum, absolute), product| {
            (sum + product, absolute + product.abs())
        })
    }
}

impl<F> Trial for Product<F>
where
    F: FnMut(&Device, &Matrix<bf16>, &Matrix<bf16>, &mut Matrix<bf16>) -> Outcome,
{
    fn launch(&mut self) -> Outcome {
        (self.multiply)(&self.device, &self.a, &self.b, &mut self.c)
    }

    /// Compares outputs spread over C with f64 sums. An accumulator loses less than 2^-22 of the
    /// absolute values per 16 products, and rounding to bf16 at most 2^-8 of the output.
    fn check(&mut self) -> Outcome {
        let c = self.c.to_vec()?;
        let size = self.a.rows();
        let mut random = Random::new(3);
        for _ in 0..COMPARED {
            let at = (random.bits() % c.len() as u64) as usize;
            let (sum, absolute) = self.exact(at / size, at % size);
            let lost = absolute * (size as f64 / 16.0) * (-22.0_f64).exp2();
            let bound = lost + (sum.abs() + lost) * (-8.0_f64).exp2();
            if (c[at].to_f64() - sum).abs() > bound {
                return Err(format!("output {at} is {}, not {sum}", c[at]).into());
            }
        }
        Ok(())
    }

    fn work(&self) -> f64 {
        2.0 * (self.c.rows() as f64).powi(3)
    }
}
