//! Divisions of products of many sizes.

use super::*;

const LENGTHS: [usize; 9] = [1, 2, 63, 64, 65, 130, 1000, 20_000, 1_000_000];

fn sizes() -> impl Iterator<Item = Sizes> {
    let shapes = LENGTHS.into_iter().flat_map(|m| {
        let of_m = move |n| [0, 1, 500, 100_000].map(move |k| (m, n, k));
        LENGTHS.into_iter().flat_map(of_m)
    });
    shapes.flat_map(|(m, n, k)| {
        [(1, 4), (2, 2), (8, 8)].map(|(operand_bytes, result_bytes)| Sizes {
            m,
            n,
            k,
            operand_bytes,
            result_bytes,
        })
    })
}

#[test]
fn panels_fit_the_memory() {
    let mut found = 0;
    for sizes in sizes() {
        for memory in [0, 100, 4096, 1 << 20, 1 << 30, 1 << 40] {
            for can_add in [true, false] {
                let Some(panels) = Panels::of(sizes, memory, can_add.then_some(1)) else {
                    continue;
                };
                found += 1;
                assert!(
                    panels.memory(sizes) <= u128::from(memory),
                    "{sizes:?} {memory}"
                );
                assert!(panels.rows >= 1 && panels.columns >= 1);
                assert!(can_add || panels.depth == sizes.k);
            }
        }
    }
    assert!(found > 4000, "{found}");
}

/// If there is memory for one output, there is a division.
#[test]
fn any_memory_for_an_output_is_enough() {
    for sizes in sizes() {
        let least = 2 * (2 * sizes.operand_bytes + 2 * 2 * sizes.result_bytes) as u64;
        assert!(Panels::of(sizes, least, Some(1)).is_some(), "{sizes:?}");
        let line = sizes.k * sizes.operand_bytes;
        let with_whole_k = (4 * line + 2 * sizes.result_bytes) as u64;
        assert!(Panels::of(sizes, with_whole_k, None).is_some(), "{sizes:?}");
    }
}

#[test]
fn blocks_and_depths_cover_everything_once() {
    for (m, n, k) in [(5, 7, 3), (100, 200, 300), (130, 64, 1), (129, 1, 0)] {
        for memory in [200, 2000, 20_000, 1 << 30] {
            let sizes = Sizes {
                m,
                n,
                k,
                operand_bytes: 4,
                result_bytes: 4,
            };
            let panels = Panels::of(sizes, memory, Some(1)).unwrap();
            let mut outputs = vec![0; m * n];
            let [_, _, most] = panels.lens();
            for block in panels.blocks() {
                assert!(block.rows.len() * block.columns.len() <= most);
                for row in block.rows {
                    for column in block.columns.clone() {
                        outputs[row * n + column] += 1;
                    }
                }
            }
            assert!(outputs.iter().all(|it| *it == 1), "{sizes:?} {memory}");
            let depths = Vec::from_iter(panels.depths());
            assert_eq!(depths.len(), panels.parts_of_k());
            assert!(depths.into_iter().flatten().eq(0..k));
        }
    }
}

/// f32 in 26 GB, a third of a device's memory.
#[test]
fn large_products_upload_little() {
    let of = |m, n, k| {
        let sizes = Sizes {
            m,
            n,
            k,
            operand_bytes: 4,
            result_bytes: 4,
        };
        let panels = Panels::of(sizes, 26 << 30, Some(1)).unwrap();
        (panels, panels.uploads())
    };
    // 40 GB each: a panel of B stays, and A is uploaded for each of them.
    let (panels, uploads) = of(100_000, 100_000, 100_000);
    assert_eq!(panels.parts_of_k(), 1);
    assert!(uploads <= 5 * 100_000 * 100_000, "{panels:?}");
    // B fits.
    let (panels, uploads) = of(1_000_000, 10_000, 10_000);
    assert_eq!(panels.columns, 10_000);
    assert_eq!(uploads, 1_010_000 * 10_000);
    // A fits, in two panels.
    let (panels, uploads) = of(10_000, 1_000_000, 10_000);
    assert_eq!(panels.rows, 5_000);
    assert_eq!(uploads, 1_010_000 * 10_000);
    // Both fit, in four panels of rows.
    let (panels, _) = of(20_000, 20_000, 20_000);
    assert_eq!((panels.rows, panels.columns), (5_000, 20_000));
    // A tall matrix by its transpose: 100 million rows do not fit.
    let (panels, _) = of(100, 100, 1 << 28);
    assert_eq!((panels.rows, panels.columns), (100, 100));
    assert_eq!(panels.parts_of_k(), 16, "{panels:?}");
}
