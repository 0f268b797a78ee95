//! The library calls the functions of an operation for existing elements only, with the indices that belong to them.

use crate::simulators;
use tilewright::ModuleSource;
use tilewright_kernels::reduce::Reduction;
use tilewright_kernels::rows::RowMap;

/// Sums of elements from 1 on, which count.
pub struct Counted;

macro_rules! counted {
    ($($element:ident)*) => {$(
        impl Reduction<$element> for Counted {
            /// The sum, and the number of elements.
            type Accumulator = [u64; 2];
            type Output = u64;
            const IDENTITY: [u64; 2] = [0; 2];

            fn lift(element: $element, _index: usize) -> [u64; 2] {
                let element = element as u64;
                assert!(element >= 1, "an element that does not exist");
                [element, 1]
            }

            fn combine(left: [u64; 2], right: [u64; 2]) -> [u64; 2] {
                [left[0] + right[0], left[1] + right[1]]
            }

            fn finish([sum, count]: [u64; 2], elements: usize) -> u64 {
                assert_eq!(count, elements as u64, "a total of other elements");
                sum
            }
        }
    )*};
}
counted! { f32 u8 }

impl RowMap for Counted {
    fn map(element: f32, sum: u64, _index: usize) -> f32 {
        assert!(element >= 1.0, "an element that does not exist");
        element + sum as f32
    }
}

tilewright_kernels::maps! {
    counted_rows: Counted of rows of f32;
}

tilewright_kernels::reductions! {
    counted_along, counted_across: Counted of rows of u8;
    counted_segments: Counted of segments of u8;
    counted_scan: Counted of scans of u8;
}

// SAFETY: (1) there are no images.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("promises", &[]) };

/// Rows and columns, for kernels of short, middle and long rows.
const SHAPES: [(usize, usize); 6] = [(1, 1), (2, 3), (3, 90), (29, 8), (2, 511), (3, 2100)];

#[test]
fn functions_are_called_for_what_exists() {
    for device in simulators() {
        let module = device.load(&KERNELS).unwrap();
        for (rows, columns) in SHAPES {
            let elements = vec![2_u8; rows * columns];
            let matrix = device.matrix((rows, columns), &elements).unwrap();
            let sums = module.reduce_rows(counted_along, &matrix).unwrap();
            assert_eq!(sums.to_vec().unwrap(), vec![2 * columns as u64; rows]);
            let sums = module.reduce_columns(counted_along, &matrix).unwrap();
            assert_eq!(sums.to_vec().unwrap(), vec![2 * rows as u64; columns]);
            let ends: Vec<usize> = (0..=rows).map(|row| row * columns).collect();
            let segments = device.segments(&ends).unwrap();
            let buffer = matrix.as_buffer();
            let sums = module.reduce_segments(counted_segments, buffer, &segments);
            assert_eq!(
                sums.unwrap().to_vec().unwrap(),
                vec![2 * columns as u64; rows]
            );
            let prefixes: Vec<u64> = (1..=columns as u64).map(|number| 2 * number).collect();
            let scan = module.scan_rows_inclusive(counted_scan, &matrix);
            assert_eq!(scan.unwrap().to_vec().unwrap(), prefixes.repeat(rows));
            let scan = module
                .scan_columns_inclusive(counted_scan, &matrix)
                .unwrap();
            let of_columns = (1..=rows as u64).flat_map(|number| vec![2 * number; columns]);
            assert_eq!(scan.to_vec().unwrap(), Vec::from_iter(of_columns));
            let scan = module.scan_segments_inclusive(counted_scan, buffer, &segments);
            assert_eq!(scan.unwrap().to_vec().unwrap(), prefixes.repeat(rows));

            let elements = vec![2.0_f32; rows * columns];
            let matrix = device.matrix((rows, columns), &elements).unwrap();
            let mapped = module.map_rows(counted_rows, &matrix).unwrap();
            let expected = 2.0 + 2.0 * columns as f32;
            assert_eq!(mapped.to_vec().unwrap(), vec![expected; rows * columns]);
        }
    }
}
