//! Operations and constants of a module have any names: none is one of a macro's own.

use super::simulators;
use half::f16;
use tilewright::{ModuleSource, Order};

/// Has items that a kernel's text might name: parameters, variables, constants and types.
#[allow(
    dead_code,
    non_upper_case_globals,
    non_camel_case_types,
    non_snake_case,
    clippy::upper_case_acronyms,
    reason = "the names are what is tested"
)]
mod named {
    use half::f16;
    use tilewright_kernels::map::Map;
    use tilewright_kernels::matmul::ProductMap;
    use tilewright_kernels::reduce::Reduction;
    use tilewright_kernels::rows::RowMap;

    macro_rules! constants {
        ($($name:ident)*) => {$(
            const $name: usize = 2;
        )*};
    }
    constants! {
        a b c d e x y a_tile b_tile shape store parameters shared staging of_a of_b tensor arguments base scratch flag
        partials ticket tickets result values count len apart lanes groups workspace lines segments offsets parts state
        initial tiles operands staged LANES VALUES STAGES
    }

    // Items that a kernel's description might name.
    const None: Option<tilewright_kernels::tensor::ClusterTile> =
        Option::Some(tilewright_kernels::tensor::HALF_LARGE);
    fn Some(
        _: tilewright_kernels::tensor::ClusterTile,
    ) -> Option<tilewright_kernels::tensor::ClusterTile> {
        None
    }

    pub struct Half;
    pub struct Tile;
    pub struct TILE;

    macro_rules! products {
        ($($operation:ident of $element:ty;)*) => {$(
            impl ProductMap<$element, 1> for $operation {
                type Parameters = u32;
                type Output = f32;

                fn map(sum: f32, [other]: [$element; 1], _place: [usize; 2], _none: &u32) -> f32 {
                    sum + f32::from(other)
                }
            }
        )*};
    }
    products! {
        Tile of f32;
        TILE of f16;
        Half of f16;
    }

    impl Reduction<[u32; LANES]> for Tile {
        type Accumulator = u32;
        type Output = u32;
        const IDENTITY: u32 = 0;

        fn lift(element: [u32; LANES], _index: usize) -> u32 {
            element[0].wrapping_add(element[1])
        }

        fn combine(left: u32, right: u32) -> u32 {
            left.wrapping_add(right)
        }

        fn finish(total: u32, _elements: usize) -> u32 {
            total
        }
    }

    impl Reduction<f32> for Half {
        type Accumulator = f32;
        type Output = f32;
        const IDENTITY: f32 = 0.0;

        fn lift(element: f32, _index: usize) -> f32 {
            element / 2.0
        }

        fn combine(left: f32, right: f32) -> f32 {
            left + right
        }

        fn finish(total: f32, _elements: usize) -> f32 {
            total
        }
    }

    impl RowMap for Half {
        fn map(element: f32, value: f32, _index: usize) -> f32 {
            element - value
        }
    }

    impl Map<f32, 2> for TILE {
        type Output = f32;

        fn map([left, right]: [f32; 2], _index: usize) -> f32 {
            left - right
        }
    }

    tilewright_kernels::maps! {
        in_tiles: Tile of products of f32 with [f32; 1] in Small;
        by_warps: TILE of products of f16 with [f16; 1] in Small;
        by_warpgroups: TILE of products of f16 with [f16; 1] in WarpgroupSmall;
        by_warps_too: Half of products of f16 with [f16; 1] in Small;
        of_elements: TILE of [f32; 2];
        of_rows: Half of rows of f32;
    }

    tilewright_kernels::reductions! {
        whole: Tile of [u32; LANES];
        along, across: Tile of rows of [u32; LANES];
        of_segments: Tile of segments of [u32; LANES];
        scanned: Tile of scans of [u32; LANES];
    }

    tilewright::cuda_std::global_array! {
        pub static GLOBAL: [f32; VALUES] = [VALUES as f32; VALUES];
    }

    tilewright::cuda_std::constant_array! {
        pub static CONSTANT: [f32; VALUES] = [VALUES as f32; VALUES];
    }
}

// SAFETY: (1) there are no images.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("named", &[]) };

#[test]
fn names_of_a_module_are_its_own() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        let ones = device.matrix((3, 3), &[1.0_f32; 9]).unwrap();
        let half_ones = device.matrix((3, 3), &[f16::ONE; 9]).unwrap();
        let turned = device
            .matrix((3, 3, Order::ColumnMajor), &[f16::ONE; 9])
            .unwrap();
        let operands = (&half_ones, &half_ones);
        let products = [
            module.map_product(named::in_tiles, (&ones, &ones), [ones.view()], &0),
            module.map_product(named::by_warps, operands, [half_ones.view()], &0),
            module.map_product(named::by_warps_too, operands, [half_ones.view()], &0),
            module.map_product(
                named::by_warpgroups,
                (&half_ones, &turned),
                [half_ones.view()],
                &0,
            ),
        ];
        for product in products {
            assert_eq!(product.unwrap().to_vec().unwrap(), [4.0; 9]);
        }
        let pairs = device.upload(&[[1_u32, 2], [3, 4]]).unwrap();
        assert_eq!(module.reduce(named::whole, &pairs).unwrap(), 10);
        let unwritten = device.uninit::<[u32; 2]>(2).unwrap();
        let error = module.reduce(named::whole, &unwritten).unwrap_err();
        assert!(error.to_string().contains("(parameter `x`)"), "{error}");
        let sums = module.scan_inclusive(named::scanned, &pairs).unwrap();
        assert_eq!(sums.to_vec().unwrap(), [3, 10]);
    }
}
