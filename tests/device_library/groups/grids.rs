//! Grids whose blocks wait for each other.

use super::volume;
use crate::{MODULE, launch, machines, numbers, output, try_launch, upload};
use cuda_std_test_kernels::groups as kernels;
use tilewright::{Error, ErrorKind, LaunchConfig};

/// The contents of `x` after `sum_and_step`.
fn stepped(mut x: Vec<u32>, rounds: u32) -> Vec<u32> {
    for _ in 0..rounds {
        let next = x.iter().cycle().skip(1);
        x = x
            .iter()
            .zip(next)
            .map(|(a, b)| a.wrapping_add(*b))
            .collect();
    }
    x
}

#[test]
fn blocks_of_a_grid_wait_for_each_other() {
    for device in machines() {
        // Successive numbers of blocks, so that each launch finds the counters of another.
        for (grid, block, rounds) in [
            ((1, 1, 1), 128, 3),
            ((7, 1, 1), 33, 0),
            ((2, 3, 2), 64, 5),
            ((32, 1, 1), 128, 2),
            ((5, 1, 1), 1, 40),
        ] {
            let blocks = volume(grid);
            let values: Vec<u32> = numbers(6).map(|n| n as u32).take(blocks * block).collect();
            let mut x = upload(&device, &values);
            let mut partials = output::<u32>(&device, blocks);
            let mut sums = output::<u32>(&device, values.len());
            let config = LaunchConfig::new(grid, block as u32);
            let arguments = (rounds, &mut x, &mut partials, &mut sums);
            launch(&device, kernels::sum_and_step, config, arguments);
            let sum = values.iter().copied().fold(0, u32::wrapping_add);
            assert_eq!(sums.to_vec().unwrap(), vec![sum; values.len()]);
            assert_eq!(x.to_vec().unwrap(), stepped(values, rounds), "{grid:?}");
        }
    }
}

#[test]
fn as_many_blocks_as_are_resident_wait_for_each_other_and_more_are_refused() {
    for device in machines() {
        let module = device.load(&MODULE).unwrap();
        let resident = module
            .max_resident_blocks(kernels::sum_and_step, 128, 0)
            .unwrap();
        let multiprocessors = device.properties().multiprocessors;
        assert!(
            resident >= 4 * multiprocessors,
            "the kernel's bounds say so"
        );
        let attempt = |blocks: u32| {
            let len = blocks as usize * 128;
            let mut x = upload(&device, &vec![1_u32; len]);
            let mut partials = output::<u32>(&device, blocks as usize);
            let mut sums = output::<u32>(&device, len);
            let arguments = (1, &mut x, &mut partials, &mut sums);
            let config = LaunchConfig::new(blocks, 128);
            try_launch(&device, kernels::sum_and_step, config, arguments)?;
            assert_eq!(sums.to_vec()?, vec![len as u32; len]);
            assert_eq!(x.to_vec()?, vec![2; len]);
            Ok(())
        };
        attempt(resident).unwrap();
        let error: Error = attempt(resident + 1).unwrap_err();
        let ErrorKind::NotResident {
            blocks,
            resident: most,
            ..
        } = error.kind()
        else {
            panic!("{error}");
        };
        assert_eq!((*blocks, *most), (u64::from(resident) + 1, resident));
        assert!(error.to_string().contains("max_resident_blocks"), "{error}");
        assert!(error.to_string().contains("on each of"), "{error}");
        attempt(resident).unwrap();
    }
}

#[test]
fn the_grid_of_an_ordinary_launch_is_not_valid() {
    for device in machines() {
        let (grid, block) = ((3, 2, 1), (8, 3, 2));
        let threads = volume(grid) * volume(block);
        let mut out = output::<u64>(&device, threads * 5);
        let config = LaunchConfig::new(grid, block);
        launch(&device, kernels::ordinary_grid, config, (&mut out,));
        let expected: Vec<u64> = (0..threads as u64)
            .flat_map(|rank| [0, threads as u64, rank, 6, rank / 48])
            .collect();
        assert_eq!(out.to_vec().unwrap(), expected);
    }
}
