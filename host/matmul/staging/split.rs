//! Operands of f32 products on tensor cores: each element split into two f16 values.

use crate::backend::TensorMapBatch;
use crate::buffer::{BufferView, BufferViewMut};
use crate::device::Device;
use crate::error::Outcome;
use crate::kernels::module_of;
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{global_mut, no_elements};
use crate::launch_args::{read_elements, written_by_product};
use crate::matmul::entry::MapWords;
use crate::matmul::epilogue::vector;
use crate::matmul::plan::SplitPasses;
use crate::matrix::{Matrix, MatrixBatch, MatrixView, Order};
use crate::module::Module;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use half::f16;
use tilewright_kernels::tensor::{
    HALF_DEPTH, SPLIT_ALIGNMENT, SPLIT_LINES, SPLIT_THREADS, SplitShape, lowest_exponent,
    split_few_in_block, split_halves, split_in_block, split_in_cluster, split_scan,
};

/// A split operand.
#[derive(Clone, Copy)]
pub struct SplitOperand<'a> {
    halves: MatrixView<'a, f16>,
    pub words: BufferView<'a, u32>,
    /// The number of matrices: one that all products share, or one for each.
    pub matrices: usize,
    /// Rows (of A) or columns (of B) of each matrix.
    pub lines: usize,
    pub k: usize,
}

/// Matrices whose rows are to be split, and the memory for their words.
pub struct Whole<'a> {
    pub x: MatrixBatch<'a, f32>,
    pub words: BufferViewMut<'a, u32>,
}

/// The number of matrices of an operand: 1 if all products share it.
pub fn matrices_of(x: MatrixBatch<'_, f32>) -> usize {
    x.count().unwrap_or(1)
}

impl Whole<'_> {
    fn shape(&self) -> SplitShape {
        let first = self.x.first();
        let (lines, k) = first.shape();
        SplitShape {
            matrices: matrices_of(self.x),
            stride: self.x.stride(),
            lines,
            k,
            leading_dimension: first.leading_dimension(),
            pitch: k.next_multiple_of(SPLIT_ALIGNMENT),
            lowest: lowest_exponent(k).expect("the product can be split"),
            is_along: u32::from(first.order() == Order::RowMajor),
        }
    }
}

/// A launch's arguments for one operand, or for none.
struct Arguments<'a> {
    x: Global<'a, f32>,
    shape: SplitShape,
    words: GlobalMut<'a, u32>,
    halves: GlobalMut<'a, f16>,
}

impl<'a> Arguments<'a> {
    fn new(operand: &'a mut Option<Whole<'_>>, halves: &'a mut Option<Matrix<f16>>) -> Self {
        let (Some(operand), Some(halves)) = (operand, halves) else {
            return Self {
                x: vector(None),
                shape: SplitShape::NONE,
                words: no_elements(),
                halves: no_elements(),
            };
        };
        // SAFETY: the launch reads only the elements of the view, as the kernels document. It writes only elements
        // of the halves, which have no gaps.
        let (x, halves) = unsafe {
            (
                read_elements(operand.x),
                written_by_product(halves.view_mut().into()),
            )
        };
        Self {
            x,
            shape: operand.shape(),
            words: global_mut(operand.words.view_mut()),
            halves,
        }
    }
}

/// Splits the rows of the given operands. Each result is one matrix: the upper halves of the rows of all matrices,
/// then the lower ones.
pub fn split_rows(
    device: &Device,
    passes: SplitPasses,
    mut operands: [Option<Whole<'_>>; 2],
) -> Outcome<[Option<Matrix<f16>>; 2]> {
    let halves_of = |operand: &Option<Whole<'_>>| {
        let Some(shape) = operand.as_ref().map(Whole::shape) else {
            return Ok(None);
        };
        Matrix::uninit(
            device,
            (2 * shape.matrices * shape.lines, shape.pitch).into(),
        )
        .map(Some)
    };
    let mut halves = [halves_of(&operands[0])?, halves_of(&operands[1])?];
    if operands.iter().all(Option::is_none) {
        return Ok(halves);
    }
    if passes == SplitPasses::Two {
        for operand in operands.iter_mut().flatten() {
            operand.words.clear()?;
        }
    }
    let [a_operand, b_operand] = &mut operands;
    let [a_halves, b_halves] = &mut halves;
    let a = Arguments::new(a_operand, a_halves);
    let b = Arguments::new(b_operand, b_halves);
    match passes {
        SplitPasses::One => launch_at_once(device, a, b)?,
        SplitPasses::Two => launch_in_two(device, a, b)?,
    }
    Ok(halves)
}

/// Splits in one launch, which reads the operands once.
fn launch_at_once(device: &Device, a: Arguments<'_>, b: Arguments<'_>) -> Outcome<()> {
    let longest = if a.shape.k < b.shape.k {
        b.shape
    } else {
        a.shape
    };
    let sharing = longest.sharing();
    let blocks = |shape: SplitShape| shape.matrices * shape.at_once_blocks(sharing);
    let blocks = blocks(a.shape) + blocks(b.shape);
    let bytes = |shape: SplitShape| shape.at_once_bytes(sharing);
    let config = LaunchConfig::new(grid(blocks, a.shape, b.shape)?, SPLIT_THREADS)
        .with_dynamic_shared(bytes(a.shape).max(bytes(b.shape)) as u32);
    let params = (
        a.x,
        b.x,
        GridConstant::new(&a.shape),
        GridConstant::new(&b.shape),
        a.words,
        b.words,
        a.halves,
        b.halves,
    );
    // SAFETY: the launch meets the kernels' requirements. The grid is that of `at_once_blocks`, and operands of one
    // product have one k, which was compared. The views reach to the operands' last elements. The words and the
    // halves have the sizes of the shapes. The halves are new matrices: they and their rows are aligned to 16 bytes.
    // The views are live without conflicting work: the operands are borrowed, the words mutably, and the halves are
    // new.
    unsafe {
        match (sharing.blocks, sharing.lines) {
            (1, SPLIT_LINES) => Module::on_demand(device, module_of!(split_in_block))
                .launch_params::<split_in_block>(config, params),
            (1, _) => Module::on_demand(device, module_of!(split_few_in_block))
                .launch_params::<split_few_in_block>(config, params),
            _ => Module::on_demand(device, module_of!(split_in_cluster))
                .launch_params::<split_in_cluster>(config, params),
        }
    }
}

/// Splits in two launches: the first finds the extremes of lines whose words are zero, and the second splits them.
fn launch_in_two(device: &Device, a: Arguments<'_>, b: Arguments<'_>) -> Outcome<()> {
    let shapes = (GridConstant::new(&a.shape), GridConstant::new(&b.shape));
    let blocks = |of_matrix: fn(&SplitShape) -> usize| {
        let of = |shape: &SplitShape| shape.matrices * of_matrix(shape);
        grid(of(&a.shape) + of(&b.shape), a.shape, b.shape)
    };
    let params = (a.x, b.x, shapes.0, shapes.1, a.words, b.words);
    // SAFETY: the launch meets the kernel's requirements: the grid is that of `scan_blocks`, the views reach to the
    // operands' last elements, and the words are zero. The views are live without conflicting work: the operands
    // are borrowed, the words mutably.
    unsafe {
        Module::on_demand(device, module_of!(split_scan)).launch_params::<split_scan>(
            LaunchConfig::new(blocks(SplitShape::scan_blocks)?, SPLIT_THREADS),
            params,
        )?;
    }
    let params = (
        a.x, b.x, shapes.0, shapes.1, a.words, b.words, a.halves, b.halves,
    );
    // SAFETY: the launch meets the kernel's requirements: the grid is that of `split_blocks`, the views reach to
    // the operands' last elements, the scan has run before, and the halves have the sizes of the shapes. They are
    // new matrices, aligned to 16 bytes like their rows. The views are live without conflicting work: as above, and the
    // halves are new.
    unsafe {
        Module::on_demand(device, module_of!(split_halves)).launch_params::<split_halves>(
            LaunchConfig::new(blocks(SplitShape::split_blocks)?, SPLIT_THREADS),
            params,
        )
    }
}

/// The size of a grid of `blocks` blocks; fails if there are too many.
fn grid(blocks: usize, a: SplitShape, b: SplitShape) -> Outcome<u32> {
    let elements = |it: SplitShape| it.matrices * it.lines * it.k;
    grid_x(blocks, || {
        let all = elements(a) + elements(b);
        format!("a grid of {blocks} blocks for {all} elements")
    })
}

impl<'a> SplitOperand<'a> {
    /// The split operand from the halves and the words of `matrices`, each of `lines` lines of `k` elements.
    pub fn new(
        halves: &'a Matrix<f16>,
        words: BufferView<'a, u32>,
        matrices: usize,
        (lines, k): (usize, usize),
    ) -> Self {
        Self {
            halves: halves.view(),
            words,
            matrices,
            lines,
            k,
        }
    }

    /// The distance from one line of halves to the next, in elements.
    pub fn pitch(&self) -> usize {
        self.halves.leading_dimension()
    }

    /// The upper halves of all matrices, line after line, and the lower ones.
    pub fn halves(&self) -> Outcome<[Global<'a, f16>; 2]> {
        let lines = self.matrices * self.lines;
        let (upper, lower) = (
            self.halves.part(..lines, ..)?,
            self.halves.part(lines.., ..)?,
        );
        // SAFETY: the launch reads only elements of the lines, as the kernels document.
        Ok([upper, lower].map(|half| unsafe { read_elements(half.into()) }))
    }

    /// A map of the upper halves of all matrices and then the lower ones, with boxes of `box_lines` lines.
    pub fn map(&self, box_lines: usize) -> Outcome<MapWords> {
        let halves = TensorMapBatch {
            count: 2 * self.matrices as u64,
            matrix_bytes: (self.lines * self.pitch() * size_of::<f16>()) as u64,
        };
        let upper = self.halves.part(..self.lines, ..self.k)?;
        let words = upper.encode_tensor_map_of_batch(box_lines, HALF_DEPTH, halves);
        words.map(MapWords)
    }
}
