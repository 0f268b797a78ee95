//! Products of unequal shapes. Those on CUDA cores, and those of f16 and bf16 at warp level on tensor cores, share
//! launches; others run one after the other.

use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{read_elements, written_by_product};
use crate::matmul::arithmetic::Arithmetic;
use crate::matmul::element::sealed::GroupElement;
use crate::matmul::epilogue::Stores;
use crate::matmul::kernel::GemmKernel;
use crate::matmul::launchers::Launcher;
use crate::matmul::matrices::Matrices;
use crate::matmul::problem::Problem;
use crate::matmul::select::{Request, blocks_in_group, is_alone};
use crate::matmul::types::sealed::Computes;
use crate::matmul::types::{Accumulate, Accumulator};
use crate::module::Module;
use bytemuck::Zeroable;
use tilewright_kernels::epilogue::EpilogueElement;
use tilewright_kernels::matmul::{GROUP, GroupedProduct, ProductGroup};

/// Products one after the other.
pub fn multiply_each<T: Computes<O, S>, O: Element, S: Accumulator>(
    device: &Device,
    arithmetic: Arithmetic,
    products: Vec<Matrices<'_, T, O, S>>,
) -> Outcome<()> {
    products
        .into_iter()
        .try_for_each(|matrices| multiply_one(device, arithmetic, matrices))
}

fn multiply_one<T: Computes<O, S>, O: Element, S: Accumulator>(
    device: &Device,
    arithmetic: Arithmetic,
    matrices: Matrices<'_, T, O, S>,
) -> Outcome<()> {
    let (element, output) = <T as Computes<O, S>>::TYPES;
    let problem = matrices.problem(element, output);
    let selection = device.select_kernel(Request::Fastest(arithmetic, None), &problem)?;
    T::multiply(device, selection, matrices)
}

/// A product in a shared launch.
struct Grouped<'a, T: Accumulate> {
    matrices: Matrices<'a, T, T, T::Accumulator>,
    problem: Problem,
}

/// Products in as few launches as there are pairs of orders, except for those that are launched alone.
pub fn multiply<T: GroupElement + Computes<T>>(
    device: &Device,
    arithmetic: Arithmetic,
    products: Vec<Matrices<'_, T, T, T::Accumulator>>,
) -> Outcome<()> {
    let mut groups: [Vec<Grouped<'_, T>>; 4] = Default::default();
    let (element, output) = T::TYPES;
    for matrices in products {
        let problem = matrices.problem(element, output);
        let alone = device.select_kernel(Request::Fastest(arithmetic, None), &problem)?;
        // Products of split operands share no launch.
        let is_split = arithmetic == Arithmetic::Split;
        if is_split || is_alone(&problem, device.facts(), &alone) {
            T::multiply(device, alone, matrices)?;
        } else if !matrices.fit_group() {
            multiply_one(device, T::ARITHMETIC, matrices)?;
        } else {
            let number = 2 * problem.a.order as usize + problem.b.order as usize;
            groups[number].push(Grouped { matrices, problem });
        }
    }
    groups
        .into_iter()
        .try_for_each(|group| launch_group(device, group))
}

/// Products whose operands have the same orders.
fn launch_group<T: GroupElement>(device: &Device, mut group: Vec<Grouped<'_, T>>) -> Outcome<()> {
    if group.is_empty() {
        return Ok(());
    }
    let problems: Vec<&Problem> = group.iter().map(|it| &it.problem).collect();
    let kernel = device.select_group_kernel(&problems)?;
    // The blocks that take longest come first, so that the last ones are short.
    group.sort_by_key(|it| std::cmp::Reverse(it.problem.k));
    while !group.is_empty() {
        let count = fitting(&group, kernel);
        if count == 0 {
            let Problem { m, n, .. } = group[0].problem;
            grid_x(None, || format!("a result of {m}x{n} elements"))?;
        }
        launch(device, kernel, group.drain(..count).collect())?;
    }
    Ok(())
}

/// The number of products, from the first on, that fit into one launch.
fn fitting<T: GroupElement>(group: &[Grouped<'_, T>], kernel: &GemmKernel) -> usize {
    let blocks = group.iter().scan(0, |before, it| {
        *before += blocks_in_group(&it.problem, kernel);
        Some(*before)
    });
    blocks
        .take(GROUP)
        .take_while(|&blocks| blocks <= i32::MAX as u64)
        .count()
}

/// One launch.
fn launch<T: GroupElement>(
    device: &Device,
    kernel: &'static GemmKernel,
    products: Vec<Grouped<'_, T>>,
) -> Outcome<()> {
    let Launcher { module, launch } = T::GROUPS.of(kernel);
    let epilogue = products[0].matrices.epilogue.arguments(Stores::Plain);
    let mut group = ProductGroup::zeroed();
    group.count = products.len() as u64;
    let mut blocks = 0;
    for (place, product) in group.products.iter_mut().zip(products) {
        let of_product = blocks_in_group(&product.problem, kernel);
        *place = product.matrices.into_grouped(blocks);
        blocks += of_product;
    }
    let module = Module::on_demand(device, module);
    let config = LaunchConfig::new(blocks as u32, kernel.descriptor.tile.threads)
        .with_dynamic_shared(kernel.descriptor.dynamic_shared_bytes as u32);
    // SAFETY: the launch meets the kernels' requirements. Block and grid are the tile's for all products. The
    // shapes were compared, and the addresses are those of views. Each C is borrowed mutably, so it shares no
    // element with another matrix. The kernel was selected by the orders of all operands of the group, and
    // unaligned ones of f16 and bf16 were launched alone. The addresses are live without conflicting work: the
    // matrices are of this device, and their borrows outlive this call.
    unsafe { launch(&module, config, &group, &epilogue.numbers) }
}

impl<T: Element, S: Element + EpilogueElement> Matrices<'_, T, T, S> {
    /// Whether the table of a group can hold their sizes.
    fn fit_group(&self) -> bool {
        let (m, n, k) = self.extents();
        let (lda, ldb) = (self.a.first(), self.b.first());
        let sizes = [
            m,
            n,
            k,
            lda.leading_dimension(),
            ldb.leading_dimension(),
            self.c.view().first().leading_dimension(),
        ];
        sizes.into_iter().all(|it| u32::try_from(it).is_ok())
    }

    /// The entry of a product in the table of a group, after the `first_block` blocks of earlier products.
    fn into_grouped(self, first_block: u64) -> GroupedProduct {
        let (m, n, k) = self.extents();
        let Self { a, b, c, .. } = self;
        let (lda, ldb) = (a.first().leading_dimension(), b.first().leading_dimension());
        let ldc = c.view().first().leading_dimension();
        // SAFETY: the launch accesses only the elements of the matrices, as the kernels document.
        let (a, b, c) = unsafe { (read_elements(a), read_elements(b), written_by_product(c)) };
        GroupedProduct {
            a: a.as_ptr().expose_provenance() as u64,
            b: b.as_ptr().expose_provenance() as u64,
            c: c.as_mut_ptr().expose_provenance() as u64,
            m: m as u32,
            n: n as u32,
            k: k as u32,
            lda: lda as u32,
            ldb: ldb as u32,
            ldc: ldc as u32,
            first_block,
        }
    }
}
