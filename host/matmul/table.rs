//! The table of product kernels, indexed by method and types, because each call looks up several kernels.

use super::kernel::{ElementType, GemmKernel, Method, SkinnyTile, TileSize, WgmmaTile};
use super::kernels::KERNELS;
use tilewright_kernels::tensor::ClusterTile;

const TYPES: usize = ElementType::F8E5M2 as usize + 1;

/// The range in the table of the kernels of a method, an element type and an output type: the first, and the one
/// after the last.
type Index = [[[(u16, u16); TYPES]; TYPES]; Method::COUNT];

static INDEX: Index = index(KERNELS);

/// The kernels of a method with these types. They differ in the orders and the alignment of the operands.
pub fn kernels_of(
    method: Method,
    element: ElementType,
    output: ElementType,
) -> &'static [GemmKernel] {
    let (first, end) = INDEX[method.number()][element as usize][output as usize];
    &KERNELS[usize::from(first)..usize::from(end)]
}

impl ElementType {
    /// The tile of the clusters that multiply these elements by this method, if there is one.
    fn cluster_tile(self, method: Method) -> Option<&'static ClusterTile> {
        kernels_of(method, self, self.of_sums()).first()?.cluster
    }

    /// The tile of the clusters that multiply these elements by `Method::Wgmma`.
    ///
    /// # Panics
    /// If no clusters do.
    pub fn wgmma_tile(self, tile: WgmmaTile) -> &'static ClusterTile {
        let tile = self.cluster_tile(Method::Wgmma(tile));
        tile.expect("clusters multiply these elements")
    }

    /// The tile of the clusters that multiply these elements for skinny results, if there is one.
    pub fn skinny_tile(self, tile: SkinnyTile) -> Option<&'static ClusterTile> {
        self.cluster_tile(Method::Skinny(tile))
    }
}

/// The tile of the clusters that multiply f32 by `Method::Split`.
pub fn split_tile(tiles: TileSize) -> &'static ClusterTile {
    let tile = ElementType::F32.cluster_tile(Method::Split(tiles.of_two()));
    tile.expect("clusters multiply split operands")
}

const fn index(kernels: &[GemmKernel]) -> Index {
    let mut index = [[[(0, 0); TYPES]; TYPES]; Method::COUNT];
    let mut at = 0;
    while at < kernels.len() {
        let kernel = &kernels[at];
        let of_types = &mut index[kernel.method.number()][kernel.element as usize];
        let (first, end) = &mut of_types[kernel.output as usize];
        if *end == 0 {
            *first = at as u16;
        } else {
            assert!(
                *end as usize == at,
                "kernels of one method and the same types stand together in the table"
            );
        }
        at += 1;
        *end = at as u16;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_found_by_its_method_and_types_alone() {
        let mut found = 0;
        for kernel in KERNELS {
            let group = kernels_of(kernel.method, kernel.element, kernel.output);
            assert!(
                group.iter().any(|it| it.name == kernel.name),
                "{}",
                kernel.name
            );
            let key = |it: &GemmKernel| (it.method, it.element, it.output);
            assert!(
                group.iter().all(|it| key(it) == key(kernel)),
                "{}",
                kernel.name
            );
            found += usize::from(group[0].name == kernel.name) * group.len();
        }
        assert_eq!(found, KERNELS.len());
        assert!(kernels_of(Method::Tiled, ElementType::I8, ElementType::I32).is_empty());
    }
}
