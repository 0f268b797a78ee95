use crate::{launch, machines, output, upload};
use cuda_std_test_kernels::shared_memory as kernels;
use tilewright::LaunchConfig;

#[test]
fn a_padded_tile_transposes() {
    let side = kernels::SIDE;
    let x: Vec<f32> = (0..side * side).map(|i| i as f32).collect();
    let transposed: Vec<f32> = (0..side * side)
        .map(|i| x[i % side * side + i / side])
        .collect();
    for device in machines() {
        let mut out = output::<f32>(&device, x.len());
        let config = LaunchConfig::new(1, (side as u32, 8));
        launch(
            &device,
            kernels::transpose,
            config,
            (&upload(&device, &x), &mut out),
        );
        assert_eq!(out.to_vec().unwrap(), transposed);
    }
}

#[test]
fn rows_of_a_tile_are_read_as_vectors() {
    let x: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let reversed: Vec<f32> = x.chunks(16).rev().flatten().copied().collect();
    for device in machines() {
        let mut out = output::<f32>(&device, x.len());
        launch(
            &device,
            kernels::reverse_rows,
            LaunchConfig::new(1, 16),
            (&upload(&device, &x), &mut out),
        );
        assert_eq!(out.to_vec().unwrap(), reversed);
    }
}

#[test]
fn arrays_are_apart() {
    let expected: Vec<u32> = (0..64)
        .rev()
        .map(|i| 1001 * i + 4_000_000 * i + 64 + 512)
        .collect();
    for device in machines() {
        let mut out = output::<u32>(&device, 64);
        launch(
            &device,
            kernels::arrays_are_apart,
            LaunchConfig::new(1, 64),
            (&mut out,),
        );
        assert_eq!(out.to_vec().unwrap(), expected);
    }
}

#[test]
fn dynamic_memory_is_as_long_as_the_launch_says() {
    for device in machines() {
        for (block, threads) in [
            ((1, 1, 1), 1),
            ((5, 3, 2), 30),
            ((100, 1, 1), 100),
            ((1024, 1, 1), 1024),
        ] {
            let x: Vec<f64> = (0..threads).map(f64::from).collect();
            let reversed: Vec<f64> = x.iter().rev().copied().collect();
            let mut out = output::<f64>(&device, x.len());
            let config = LaunchConfig::new(1, block).with_dynamic_shared(8 * threads as u32);
            launch(
                &device,
                kernels::reverse_f64,
                config,
                (&upload(&device, &x), &mut out),
            );
            assert_eq!(out.to_vec().unwrap(), reversed, "block {block:?}");
        }
        // The last one is more than a launch has without asking the driver.
        for (bytes, len) in [(0, 0), (3, 0), (4, 1), (100, 25), (100 << 10, 25 << 10)] {
            let mut out = output::<u64>(&device, 3);
            let config = LaunchConfig::new(1, 32).with_dynamic_shared(bytes);
            launch(&device, kernels::dynamic_length, config, (&mut out,));
            assert_eq!(
                out.to_vec().unwrap(),
                [len, u64::from(len == 0), 0],
                "{bytes} bytes"
            );
        }
    }
}
