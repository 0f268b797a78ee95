//! A product of f64 by residues, kernel by kernel: the library takes residues from 3072 x 3072 x 3072 multiply-adds
//! on, which are too many for a simulator.

use crate::cases::{Case, Cases, bytes};
use tilewright::{Buffer, Device, LaunchConfig, ModuleSource, Result};
use tilewright_kernels::epilogue::EpilogueNumbers;
use tilewright_kernels::exact::{
    self, COMBINE_THREADS, CombineShape, LINES_THREADS, Line, LinesShape, Moduli, QUAD, RANGE_BITS,
    RESIDUES_THREADS, ResiduesShape, Weights, operand_bits,
};
use tilewright_kernels::matmul::{self, ProductKernel, ProductShape};

// SAFETY: (1) there are no images: the simulator runs the kernels as Rust, or as what a device's bodies choose.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("residues", &[]) };

/// Rows of A, columns of B, and elements of each line. A line of this length is in range if none of its elements is
/// small.
const M: usize = 20;
const N: usize = 70;
const K: usize = 288;

/// The row of A and the column of B that are out of range.
const ROW_OUT: usize = 3;
const COLUMN_OUT: usize = 66;

/// Elements from one row of a product of residues to the next.
const PITCH: usize = N.next_multiple_of(QUAD);

/// The number of moduli.
const COUNT: usize = {
    let mut count = 1;
    while operand_bits(count) < RANGE_BITS {
        count += 1;
    }
    count
};

/// Launches a kernel that makes outputs of products of residues.
macro_rules! combine {
    ($device:ident, $kernel:ident, $products:expr, $sides:expr, $c:ident) => {{
        let [a, b]: [&Side; 2] = $sides;
        let none = $device.zeros::<f64>(0)?;
        let shape = CombineShape {
            m: M,
            n: N,
            ldc: N,
            pitch: PITCH,
            parts: 1,
            first: [0; 2],
        };
        let blocks = (M * shape.quads()).div_ceil(COMBINE_THREADS as usize) as u32;
        let (weights, numbers) = (Weights::new(COUNT), EpilogueNumbers::<f64>::PLAIN);
        let arguments = (
            $products, &a.lines, &b.lines, &mut $c, &mut $device.zeros::<u8>(0)?, &shape, &weights, &numbers, &none,
            &none, &none, &none,
        );
        let config = LaunchConfig::new(blocks, COMBINE_THREADS);
        // SAFETY: (1) there is a product of the lines' residues for each modulus, with rows of `PITCH` elements. C has
        // the outputs, which are not exact. The grid has a thread for each four.
        unsafe { $device.load(&KERNELS)?.launch_unsafe(exact::$kernel, config, arguments) }?;
    }};
}

/// Launches a kernel that writes the outputs of lines out of range.
macro_rules! write_left {
    ($device:ident, $kernel:ident, $sides:expr, $c:ident) => {{
        let [a, b]: [&Side; 2] = $sides;
        let none = $device.zeros::<f64>(0)?;
        let descriptor = <matmul::$kernel as ProductKernel>::DESCRIPTOR;
        let shape = ProductShape {
            m: M,
            n: N,
            k: K,
            lda: K,
            ldb: K,
            ldc: N,
            a_stride: 0,
            b_stride: 0,
            c_stride: 0,
            is_lower: 0,
            part: 0,
        };
        let blocks = descriptor.tile.blocks(M, N).expect("few blocks");
        let config = LaunchConfig::new(blocks, descriptor.tile.threads)
            .with_dynamic_shared(descriptor.dynamic_shared_bytes as u32);
        let numbers = EpilogueNumbers::<f64>::PLAIN;
        let arguments = (
            &a.buffer, &b.buffer, &mut $c, &shape, &numbers, &none, &none, &none, &none, &a.lines, &b.lines,
        );
        // SAFETY: (1) rows of A and columns of B are contiguous, with a line for each; C is row-major and has the
        // outputs. Grid, block and shared memory are the kernel's.
        unsafe { $device.load(&KERNELS)?.launch_unsafe(matmul::$kernel, config, arguments) }?;
    }};
}

pub fn cases() -> Vec<Case> {
    let mut cases = Cases::new();
    cases.add("product by residues", product);
    cases.finish()
}

/// The product from residues in bytes and in words, with lines out of range by each kernel for them.
fn product(device: &Device) -> Result<Vec<u8>> {
    let a = Side::new(device, elements(M, ROW_OUT), &Moduli::new(COUNT, false))?;
    let b = Side::new(device, elements(N, COLUMN_OUT), &Moduli::new(COUNT, true))?;
    assert_eq!(a.lines_out()?, [ROW_OUT]);
    assert_eq!(b.lines_out()?, [COLUMN_OUT]);
    let products = products(&a, &b);
    let [mut of_words, mut of_bytes] = [device.zeros(M * N)?, device.zeros(M * N)?];
    macro_rules! launch {
        ($combine:ident, $products:ident, $left:ident, $c:ident) => {
            combine!(device, $combine, &device.upload(&$products)?, [&a, &b], $c);
            write_left!(device, $left, [&a, &b], $c);
        };
    }
    launch!(
        residues_combine_words_f64,
        products,
        matmul_left_f64_nt,
        of_words
    );
    let reduced = reduced(&products);
    launch!(
        residues_combine_f64,
        reduced,
        matmul_mma_left_f64_nt,
        of_bytes
    );
    let (of_words, of_bytes) = (of_words.to_vec()?, of_bytes.to_vec()?);
    assert_are_products(&of_words, &a, &b);
    assert_are_products(&of_bytes, &a, &b);
    Ok([bytes(&of_words), bytes(&of_bytes)].concat())
}

/// Rows of A or columns of B.
struct Side {
    elements: Vec<f64>,
    buffer: Buffer<f64>,
    lines: Buffer<Line>,
    /// Those of all lines for the first modulus, for the second, and so on.
    residues: Vec<i8>,
}

impl Side {
    fn new(device: &Device, elements: Vec<f64>, moduli: &Moduli) -> Result<Self> {
        let buffer = device.upload(&elements)?;
        let count = elements.len() / K;
        let mut lines = device.zeros::<Line>(count)?;
        let mut residues = device.zeros::<i8>(COUNT * elements.len())?;
        let of_lines = LinesShape {
            lines: count,
            k: K,
            leading_dimension: K,
            bits: RANGE_BITS as usize,
        };
        let of_residues = ResiduesShape::new((count, K), K, K / 4);
        let blocks = [count.div_ceil(of_lines.at_a_time()), of_residues.blocks()];
        let [for_lines, for_residues] = blocks.map(|it| it as u32);
        let module = device.load(&KERNELS)?;
        // SAFETY: (1) the elements are those of the shapes, with a line for each row, and as many residues as elements
        // for each modulus. What is known of lines is there before their residues are made. Grids and blocks are those
        // of the shapes.
        unsafe {
            module.launch_unsafe(
                exact::residues_lines_f64,
                LaunchConfig::new(for_lines, LINES_THREADS),
                (&buffer, &mut lines, &of_lines),
            )?;
            module.launch_unsafe(
                exact::residues_of_f64,
                LaunchConfig::new(for_residues, RESIDUES_THREADS),
                (&buffer, &lines, &mut residues, &of_residues, moduli),
            )?;
        }
        Ok(Self {
            elements,
            buffer,
            lines,
            residues: residues.to_vec()?,
        })
    }

    /// The numbers of the lines that are out of range.
    fn lines_out(&self) -> Result<Vec<usize>> {
        let lines = self.lines.to_vec()?.into_iter().enumerate();
        Ok(lines
            .filter(|it| it.1.is_out_of_range())
            .map(|it| it.0)
            .collect())
    }

    /// The residues of a line.
    fn residues(&self, modulus: usize, line: usize) -> &[i8] {
        let lines = self.elements.len() / K;
        &self.residues[(modulus * lines + line) * K..][..K]
    }
}

/// Lines of elements. One line is mostly zeros.
fn elements(count: usize, out: usize) -> Vec<f64> {
    let element = |line: usize, at: usize| {
        let magnitude = 1.0 + ((7 * at + 3 * line) % 31) as f64 / 31.0;
        match (at + line) % 3 {
            _ if line == out && at > 9 => 0.0,
            0 => -magnitude,
            _ => magnitude,
        }
    };
    let line = |line| (0..K).map(move |at| element(line, at));
    (0..count).flat_map(line).collect()
}

/// For each modulus, the product of the residues.
fn products(a: &Side, b: &Side) -> Vec<i32> {
    let mut products = vec![0; COUNT * M * PITCH];
    for (number, row) in products.chunks_mut(PITCH).enumerate() {
        let (modulus, i) = (number / M, number % M);
        for (j, product) in row[..N].iter_mut().enumerate() {
            let pairs = a.residues(modulus, i).iter().zip(b.residues(modulus, j));
            *product = pairs.map(|(x, y)| i32::from(*x) * i32::from(*y)).sum();
        }
    }
    products
}

/// The products modulo each modulus.
fn reduced(products: &[i32]) -> Vec<i8> {
    let weights = Weights::new(COUNT);
    let of_moduli = products.chunks(M * PITCH).zip(&weights.each);
    let reduced =
        of_moduli.flat_map(|(products, it)| products.iter().map(|x| it.modulus.reduce(*x)));
    reduced.map(|it| it as i8).collect()
}

/// Whether each output is the product of its lines, but for what rounding changes.
fn assert_are_products(outputs: &[f64], a: &Side, b: &Side) {
    for (at, output) in outputs.iter().enumerate() {
        let [x, y] = [
            &a.elements[at / N * K..][..K],
            &b.elements[at % N * K..][..K],
        ];
        let sum: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
        assert!(
            (output - sum).abs() < 1e-10,
            "output {at}: {output}, not {sum}"
        );
    }
}
