//! Exact products: the moduli, the parts of K, and the panels of C.

use super::problem::{DeviceFacts, Problem, ROW_ALIGNMENT};
use super::rules::Request;
use crate::buffer::ALIGNMENT;
use crate::matmul::arithmetic::Arithmetic;
use crate::matmul::kernel::{GemmKernel, TileSize};
use crate::matmul::types::ElementType;
use crate::matrix::Order;
use tilewright_kernels::exact::{
    ExactElement, LIMB_BITS, MODULI, MOST_MODULI, Moduli, RANGE_BITS, Weights, operand_bits,
};

/// An array of what `$value` is for each number of moduli, number 0 as number 1.
macro_rules! for_each_number {
    (|$count:ident| $value:expr) => {{
        let $count = 1;
        let (mut all, mut $count) = ([$value; MOST_MODULI + 1], $count);
        while $count <= MOST_MODULI {
            all[$count] = $value;
            $count += 1;
        }
        all
    }};
}

/// How an exact product is computed.
pub struct ExactPlan {
    /// Products modulo several numbers; `None` if all outputs are computed one by one.
    pub residues: Option<ResiduesPlan>,
}

/// Products modulo several numbers.
pub struct ResiduesPlan {
    /// The moduli, for rows of A and columns of B.
    pub moduli: [&'static Moduli; 2],
    /// The kernel that turns products of residues into integers.
    pub weights: &'static Weights,
    /// Bits of the integers of A and of B.
    pub bits: [u32; 2],
    /// Elements along K that are multiplied at once: sums of products of residues are exact up to 2^16.
    pub part: usize,
    /// Rows and columns of C that are computed at once.
    pub panel: (usize, usize),
    /// The kernel that multiplies the residues of the first panel.
    pub kernel: &'static GemmKernel,
    /// Whether that kernel writes residues. Otherwise it writes i32.
    pub is_reduced: bool,
    /// The request that selects that kernel.
    pub request: Request,
}

/// The most elements along K of a product of residues.
const MOST_K: usize = 1 << 16;

/// Largest product, in multiply-adds, whose outputs are computed one by one.
const ONE_BY_ONE_TO: u128 = 1 << 23;

/// The same, in rows or columns.
const FEW_LINES: usize = 4;

/// Bits beyond those that a sum of usual size needs, so that at most one in 2^11 random outputs is left.
const SPARE_BITS: u32 = 11;

/// Bytes of the residues of a panel, at most.
const PANEL_BYTES: usize = 8 << 30;

/// Smallest side to which panels are cut.
const LEAST_PANEL: usize = 1024;

/// The constants of each number of moduli, which take too long to compute in a call. There is no product with none.
static OF_A: [Moduli; MOST_MODULI + 1] = for_each_number!(|count| Moduli::new(count, false));
static OF_B: [Moduli; MOST_MODULI + 1] = for_each_number!(|count| Moduli::new(count, true));
static WEIGHTS: [Weights; MOST_MODULI + 1] = for_each_number!(|count| Weights::new(count));

/// The bits of operands for each number of moduli.
const BITS: [u32; MOST_MODULI + 1] = for_each_number!(|count| operand_bits(count));

/// Whether integers of one operand may have a bit more than `bits`, as many as `count` moduli allow both.
///
/// The product of the moduli is to exceed 2^(bits of both + 1) by a tenth.
fn has_odd_bit(count: usize, bits: u32) -> bool {
    let moduli = &MODULI[..count];
    let log: f64 = moduli.iter().map(|&it| f64::from(it).log2()).sum();
    bits == BITS[count] && log > f64::from(2 * bits + 1) + 1.138
}

/// Selects the kernel for products of residues.
type Select<'a> = &'a dyn Fn(&Problem, Request) -> Option<&'static GemmKernel>;

/// The requirements of an element type on exact products.
struct Format {
    precision: u32,
    most_bits: u32,
    /// Bits of the product of moduli.
    most_product: u32,
}

impl Format {
    const fn of<T: ExactElement>() -> Self {
        Self {
            precision: T::PRECISION,
            most_bits: T::MOST_BITS,
            most_product: LIMB_BITS * T::LIMBS as u32,
        }
    }
}

impl ExactPlan {
    /// The plan of a product; `None` if no kernel computes products of its type. If the caller chose `tiles`, they are
    /// those of products of residues.
    pub fn of(
        problem: &Problem,
        device: DeviceFacts,
        tiles: Option<TileSize>,
        select: Select<'_>,
    ) -> Option<Self> {
        let format = match problem.element {
            ElementType::F32 => Format::of::<f32>(),
            ElementType::F64 => Format::of::<f64>(),
            _ => return None,
        };
        let is_small =
            problem.multiply_adds() <= ONE_BY_ONE_TO || problem.m.min(problem.n) <= FEW_LINES;
        // Only outputs bound K: a matrix without rows may have any number of columns.
        let has_terms = problem.m.min(problem.n).min(problem.k) > 0;
        let is_one_by_one = !has_terms || is_small && tiles.is_none();
        let residues = match is_one_by_one {
            true => None,
            false => Some(ResiduesPlan::of(&format, problem, (device, tiles), select)?),
        };
        Some(Self { residues })
    }
}

impl ResiduesPlan {
    /// How many moduli there are.
    pub const fn count(&self) -> usize {
        self.moduli[0].count as usize
    }

    /// The plan of a product of f64 within gamma_K |A||B|, of lines that are in range.
    pub fn in_range(
        problem: &Problem,
        device: DeviceFacts,
        tiles: Option<TileSize>,
        select: Select<'_>,
    ) -> Option<Self> {
        const COUNT: usize = {
            let mut count = 1;
            while BITS[count] < RANGE_BITS {
                count += 1;
            }
            count
        };
        Self::with(COUNT, RANGE_BITS, problem, (device, tiles), select)
    }

    fn of(
        format: &Format,
        problem: &Problem,
        of: (DeviceFacts, Option<TileSize>),
        select: Select<'_>,
    ) -> Option<Self> {
        let k_bits = problem.k.next_power_of_two().ilog2();
        let wanted = format.precision + 1 + k_bits + SPARE_BITS;
        // The product of moduli has up to 3 bits more than the integers' products.
        let fits = |count: &usize| 2 * BITS[*count] + 4 <= format.most_product;
        let mut counts = (1..=MOST_MODULI).filter(fits);
        let count = (counts.clone().find(|&it| BITS[it] >= wanted)).or(counts.next_back())?;
        let bits = BITS[count].min(format.most_bits);
        Self::with(count, bits, problem, of, select)
    }

    /// The plan with this many moduli, and integers of `bits` bits.
    fn with(
        count: usize,
        bits: u32,
        problem: &Problem,
        (device, tiles): (DeviceFacts, Option<TileSize>),
        select: Select<'_>,
    ) -> Option<Self> {
        let parts = problem.k.div_ceil(MOST_K);
        let part = problem.k.div_ceil(parts).next_multiple_of(ROW_ALIGNMENT);
        let panel = panel_of(count, problem);
        let products = count * parts;
        let request = match device.limit {
            Some(capability) => Request::FastestAt(capability, Arithmetic::Auto, tiles),
            None => Request::Fastest(Arithmetic::Auto, tiles),
        };
        let kernel_to = |output| {
            let product = of_residues(output, panel, part, products);
            select(&product, request)
        };
        let reduced = kernel_to(ElementType::I8);
        // The moduli may allow A a bit more.
        let mut moduli = [&OF_A[count], &OF_B[count]];
        let mut bits = [bits + u32::from(has_odd_bit(count, bits)), bits];
        if problem.is_transposed {
            moduli.reverse();
            bits.reverse();
        }
        Some(Self {
            moduli,
            weights: &WEIGHTS[count],
            bits,
            part,
            panel,
            kernel: reduced.or_else(|| kernel_to(ElementType::I32))?,
            is_reduced: reduced.is_some(),
            request,
        })
    }
}

/// The products of residues.
fn of_residues(output: ElementType, (m, n): (usize, usize), k: usize, batch: usize) -> Problem {
    let orders = [Order::RowMajor, Order::ColumnMajor];
    let one = Problem::packed((ElementType::I8, output), (m, n, k), orders, ALIGNMENT);
    Problem {
        a: one.a.one_of_many(m * k),
        b: one.b.one_of_many(k * n),
        c: one.c.one_of_many(m * n * output.bytes()),
        batch,
        is_plain: false,
        is_shared: [false; 2],
        ..one
    }
}

/// Rows and columns of C whose residues, and those of their operands, fit the memory for them.
fn panel_of(moduli: usize, problem: &Problem) -> (usize, usize) {
    let (mut m, mut n) = (problem.m, problem.n);
    let bytes = |m: usize, n: usize| {
        let elements = (m as u128 + n as u128) * problem.k as u128 + m as u128 * n as u128;
        moduli as u128 * elements
    };
    while bytes(m, n) > PANEL_BYTES as u128 {
        let Some(smaller) = smaller_panel((m, n)) else {
            break;
        };
        (m, n) = smaller;
    }
    (m, n)
}

/// The panel with half the rows or columns, whichever are more; `None` if these are few.
pub fn smaller_panel((m, n): (usize, usize)) -> Option<(usize, usize)> {
    let half = |length: usize| length.div_ceil(2).next_multiple_of(ROW_ALIGNMENT);
    match m > n {
        _ if m.max(n) <= LEAST_PANEL => None,
        true => Some((half(m), n)),
        false => Some((m, half(n))),
    }
}
