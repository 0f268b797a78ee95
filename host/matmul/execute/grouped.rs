//! Products of unequal shapes in shared launches: those on CUDA cores, and those of f16 and bf16 at warp level on
//! tensor cores.

use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{read_elements, written_by_product};
use crate::matmul::kernel::GemmKernel;
use crate::matmul::launchers::{Kernels, Launcher};
use crate::matmul::operands::{Matrices, Operands};
use crate::matmul::plan::{Problem, Store, blocks_in_group};
use crate::matmul::types::EpilogueScalar;
use crate::module::Module;
use bytemuck::Zeroable;
use tilewright_kernels::matmul::{GROUP, GroupedProduct, ProductGroup};

/// A product in a shared launch.
pub struct Grouped<'a, T: Element, S: Element> {
    pub matrices: Matrices<'a, T, T, S>,
    pub problem: Problem,
}

/// Products whose operands have the same orders, at least one, by this kernel.
pub fn multiply<T: Kernels<T, S>, S: EpilogueScalar>(
    device: &Device,
    kernel: &'static GemmKernel,
    mut group: Vec<Grouped<'_, T, S>>,
) -> Outcome<()> {
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
fn fitting<T: Element, S: Element>(group: &[Grouped<'_, T, S>], kernel: &GemmKernel) -> usize {
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
fn launch<T: Kernels<T, S>, S: EpilogueScalar>(
    device: &Device,
    kernel: &'static GemmKernel,
    products: Vec<Grouped<'_, T, S>>,
) -> Outcome<()> {
    let Launcher { module, launch } = T::GROUPS.of(kernel);
    let epilogue = products[0].matrices.epilogue.arguments(Store::Own);
    let mut group = ProductGroup::zeroed();
    group.count = products.len() as u64;
    let mut blocks = 0;
    for (place, product) in group.products.iter_mut().zip(products) {
        let of_product = blocks_in_group(&product.problem, kernel);
        *place = into_grouped(product.matrices, blocks);
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
    unsafe { launch(module, config, &group, &epilogue.numbers) }
}

/// Whether the table of a group can hold the sizes of a product.
pub fn fit_group<T: Element, S: EpilogueScalar>(matrices: &Matrices<'_, T, T, S>) -> bool {
    let (m, n, k) = matrices.extents();
    let Operands { a, b, .. } = matrices.operands;
    let sizes = [
        m,
        n,
        k,
        a.first().leading_dimension(),
        b.first().leading_dimension(),
        matrices.c.view().first().leading_dimension(),
    ];
    sizes.into_iter().all(|it| u32::try_from(it).is_ok())
}

/// The entry of a product in the table of a group, after the `first_block` blocks of earlier products.
fn into_grouped<T: Element, S: EpilogueScalar>(
    matrices: Matrices<'_, T, T, S>,
    first_block: u64,
) -> GroupedProduct {
    let (m, n, k) = matrices.extents();
    let Matrices { operands, c, .. } = matrices;
    let Operands { a, b, .. } = operands;
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
