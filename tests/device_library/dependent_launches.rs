use crate::{hoppers, launch, upload};
use cuda_std_test_kernels::dependent_launches as kernels;
use tilewright::{Device, LaunchConfig};

const LAUNCHES: usize = 100;

fn expected(blocks: u32) -> Vec<u32> {
    let mut x: Vec<u32> = (0..blocks * kernels::THREADS).collect();
    for _ in 0..LAUNCHES {
        let next = x.iter().rev().zip(0_u32..);
        x = next
            .map(|(x, i)| x.wrapping_mul(3).wrapping_add(i))
            .collect();
    }
    x
}

/// The elements after this many launches, each of which reads the results of the one before.
fn chain(device: &Device, blocks: u32) -> Vec<u32> {
    let x: Vec<u32> = (0..blocks * kernels::THREADS).collect();
    let mut x = upload(device, &x);
    let mut y = upload(device, &vec![0; x.len()]);
    for _ in 0..LAUNCHES {
        let config = LaunchConfig::new(blocks, kernels::THREADS);
        launch(device, kernels::next_of_reversed, config, (&x, &mut y));
        std::mem::swap(&mut x, &mut y);
    }
    x.to_vec().unwrap()
}

#[test]
fn each_launch_sees_what_the_one_before_has_written() {
    for device in hoppers() {
        // A GPU starts blocks in several waves, and the last ones of a launch run alongside the next one.
        let blocks = match device.properties().compute_capability {
            Some(_) => 4000,
            None => 2,
        };
        assert_eq!(
            chain(&device, blocks),
            expected(blocks),
            "{}",
            device.name()
        );
    }
}
