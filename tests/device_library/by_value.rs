//! Parameters that are passed by value, and kernels for one architecture.

use crate::{launch, machines, try_launch};
use cuda_std::kernel::Kernel;
use cuda_std_test_kernels::IMAGES;
use cuda_std_test_kernels::by_value::{Table, read_table, read_table_in_clusters, read_two_tables};
use tilewright::{Device, Error, ErrorKind, LaunchConfig, Profile, SimulatorOptions};

fn table() -> Table {
    Table(std::array::from_fn(|i| (i * i) as u32))
}

/// Whether a device has an image of the kernel; simulators that stand for no GPU have all.
fn has_kernel<K: Kernel>(_: K, device: &Device) -> bool {
    let capability = device.properties().compute_capability;
    K::ARCH.is_none_or(|arch| capability.is_none_or(|it| arch.runs_on(it)))
}

#[test]
fn every_thread_reads_the_same_bytes() {
    let table = table();
    let expected: Vec<u32> = (0..100).map(|i| table.0[i % 32] + 5).collect();
    for device in machines() {
        let mut out = device.upload(&[0_u32; 100]).unwrap();
        let config = LaunchConfig::for_elements(100, 64);
        launch(&device, read_table, config, (5, &table, &mut out));
        assert_eq!(out.to_vec().unwrap(), expected, "{device:?}");
        if !has_kernel(read_table_in_clusters, &device) {
            continue;
        }
        let mut out = device.upload(&[0_u32; 100]).unwrap();
        launch(
            &device,
            read_table_in_clusters,
            config,
            (5, &table, &mut out),
        );
        assert_eq!(out.to_vec().unwrap(), expected, "{device:?}");
    }
}

#[test]
fn blocks_of_bytes_follow_one_another() {
    for device in machines() {
        let mut out = device.upload(&[0_u32; 2]).unwrap();
        let config = LaunchConfig::new(1, 2);
        launch(
            &device,
            read_two_tables,
            config,
            (&table(), &[7, 8, 9], &mut out),
        );
        assert_eq!(out.to_vec().unwrap(), [31 * 31 + 7; 2], "{device:?}");
    }
}

/// The reason for which a launch was refused.
fn refusal(device: &Device, config: LaunchConfig) -> String {
    let mut out = device.upload(&[0_u32; 4]).unwrap();
    let arguments = (0, &table(), &mut out);
    let launched = try_launch(device, read_table_in_clusters, config, arguments);
    match launched.map_err(Error::into_kind) {
        Err(ErrorKind::LaunchConfig { kernel, reason }) => {
            assert_eq!(kernel, "read_table_in_clusters");
            reason
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_grid_is_made_of_whole_clusters() {
    let reason = refusal(&Device::simulator(), LaunchConfig::new(3, 32));
    assert!(reason.contains("3 blocks in dimension x"), "{reason}");
}

#[test]
fn a_kernel_for_another_architecture_is_refused() {
    let options = SimulatorOptions::default().with_profile(Profile::A100);
    let reason = refusal(&Device::simulator_with(options), LaunchConfig::new(2, 32));
    assert!(reason.contains("sm_90a"), "{reason}");
    assert!(reason.contains("compute capability 8.0"), "{reason}");
}

/// The head and the body of an entry in the image for an architecture.
fn entry(arch: &str, kernel: &str) -> Option<String> {
    let (_, ptx) = IMAGES.iter().find(|(name, _)| *name == arch)?;
    let (_, rest) = ptx.split_once(&format!(".entry {kernel}("))?;
    rest.split("\n}").next().map(str::to_owned)
}

#[test]
fn entries_declare_blocks_of_bytes_and_clusters() {
    if IMAGES.is_empty() {
        return;
    }
    for arch in ["sm_75", "sm_80", "sm_90a"] {
        let code = entry(arch, "read_table").unwrap();
        assert!(
            code.contains(".param .align 64 .b8 read_table_param_1[128]"),
            "{code}"
        );
        assert!(code.contains("ld.param.b32"), "{code}");
        assert!(!code.contains(".local"), "no copy of the bytes: {code}");
        let two = entry(arch, "read_two_tables").unwrap();
        assert!(
            two.contains(".param .align 2 .b8 read_two_tables_param_1[6]"),
            "{two}"
        );
    }
    let clusters = entry("sm_90a", "read_table_in_clusters").unwrap();
    assert!(
        clusters.contains(".reqnctapercluster 2, 1, 1"),
        "{clusters}"
    );
    assert_eq!(entry("sm_80", "read_table_in_clusters"), None);
}
