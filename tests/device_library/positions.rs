use crate::{launch, machines, output, upload, warp_threads};
use cuda_std_test_kernels::positions as kernels;
use half::f16;
use tilewright::LaunchConfig;

type Extent = (u32, u32, u32);

/// Grids and blocks in one to three dimensions, with whole and with partial warps.
const SHAPES: [(Extent, Extent); 7] = [
    ((1, 1, 1), (1, 1, 1)),
    ((5, 1, 1), (7, 1, 1)),
    ((3, 1, 1), (64, 1, 1)),
    ((2, 3, 1), (32, 4, 1)),
    ((2, 3, 4), (8, 4, 2)),
    ((1, 2, 2), (3, 5, 7)),
    ((1, 1, 2), (1, 1, 64)),
];

/// All indices below `extent`, x fastest.
fn indices((x, y, z): Extent) -> impl Iterator<Item = Extent> {
    (0..z).flat_map(move |k| (0..y).flat_map(move |j| (0..x).map(move |i| (i, j, k))))
}

#[test]
fn threads_know_where_they_are() {
    for device in machines() {
        for (grid, block) in SHAPES {
            let size = block.0 * block.1 * block.2;
            let mut expected = Vec::new();
            for b in indices(grid) {
                for (rank, t) in (0..).zip(indices(block)) {
                    let width = warp_threads(&device);
                    expected.extend([t.0, t.1, t.2, b.0, b.1, b.2]);
                    expected.extend([block.0, block.1, block.2, grid.0, grid.1, grid.2]);
                    expected.extend([rank % width, rank / width, rank, size]);
                }
            }
            let mut out = output::<u32>(&device, expected.len());
            launch(
                &device,
                kernels::coordinates,
                LaunchConfig::new(grid, block),
                (&mut out,),
            );
            assert_eq!(
                out.to_vec().unwrap(),
                expected,
                "grid {grid:?}, block {block:?}"
            );
        }
    }
}

#[test]
fn indices_count_over_the_grid() {
    for device in machines() {
        for (grid, block) in SHAPES {
            let mut expected = Vec::new();
            for (b_rank, b) in (0..).zip(indices(grid)) {
                for t in indices(block) {
                    let x = b.0 * block.0 + t.0;
                    let y = b.1 * block.1 + t.1;
                    let z = b.2 * block.2 + t.2;
                    expected.extend([x, x, y, x, y, z, b_rank].map(u64::from));
                }
            }
            let mut out = output::<u64>(&device, expected.len());
            launch(
                &device,
                kernels::indices,
                LaunchConfig::new(grid, block),
                (&mut out,),
            );
            assert_eq!(
                out.to_vec().unwrap(),
                expected,
                "grid {grid:?}, block {block:?}"
            );
        }
    }
}

#[test]
fn each_thread_has_an_element_of_its_own() {
    for device in machines() {
        for (grid, block) in SHAPES {
            let threads = (grid.0 * grid.1 * grid.2 * block.0 * block.1 * block.2) as usize;
            for len in [0, 1, threads - 1, threads, threads + 3] {
                let x: Vec<f32> = (0..len).map(|i| i as f32).collect();
                let expected: Vec<f32> = (0..len)
                    .map(|i| if i < threads { 2.0 * x[i] + 1.0 } else { 1.0 })
                    .collect();
                let x = upload(&device, &x);
                let mut y = upload(&device, &vec![1.0; len]);
                // `x` is empty only with `y`.
                let config = LaunchConfig::new(grid, block);
                device
                    .load(&crate::MODULE)
                    .and_then(|module| {
                        module.launch(kernels::own_elements, config, (2.0, &x, &mut y))
                    })
                    .unwrap();
                assert_eq!(
                    y.to_vec().unwrap(),
                    expected,
                    "grid {grid:?}, block {block:?}"
                );
            }
        }
    }
}

#[test]
fn views_know_when_they_are_empty() {
    for device in machines() {
        let x = upload::<f32>(&device, &[]);
        let mut y = upload(&device, &[1.0_f32; 9]);
        launch(
            &device,
            kernels::own_elements,
            LaunchConfig::new(1, 32),
            (2.0, &x, &mut y),
        );
        assert_eq!(y.to_vec().unwrap(), [19.0; 9]);
    }
}

#[test]
fn every_scalar_crosses() {
    for device in machines() {
        let x = upload(&device, &[1.0, 2.0, 4.0, 8.0]);
        let mut out = upload(&device, &[-1.0; 4]);
        let arguments = (
            200_u8,
            -3_i16,
            &x,
            2_u32,
            1_i64 << 40,
            0.5_f32,
            f16::from_f32(0.25),
            &mut out,
            3_usize,
        );
        launch(
            &device,
            kernels::scalars,
            LaunchConfig::new(1, 32),
            arguments,
        );
        let sum = 200.0 - 3.0 + (1_i64 << 40) as f64 + 0.75;
        assert_eq!(out.to_vec().unwrap(), [sum + 4.0, sum + 8.0, sum, -1.0]);
    }
}
