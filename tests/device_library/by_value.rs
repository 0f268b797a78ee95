//! Parameters that are passed by value, and kernels for one architecture.

use crate::{launch, machines, try_launch};
use cuda_std::kernel::Kernel;
use cuda_std_test_kernels::IMAGES;
use cuda_std_test_kernels::by_value::{
    Line, Table, draw, pick, read_table, read_table_in_clusters, read_two_tables,
};
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

#[test]
fn structs_arrays_and_truths_are_values() {
    let line = Line {
        slope: 0.5,
        offset: 10.0,
        first: 3,
    };
    let on_line = |i: u32| 0.5 * (i as f32 - 3.0) + 10.0;
    for device in machines() {
        for clamped in [false, true] {
            let mut out = device.upload(&[0.0_f32; 20]).unwrap();
            let config = LaunchConfig::for_elements(20, 32);
            launch(
                &device,
                draw,
                config,
                (line, [9.0, 15.25], clamped, &mut out),
            );
            let expected = (0..20).map(on_line);
            let expected = expected.map(|y| if clamped { y.clamp(9.0, 15.25) } else { y });
            let expected: Vec<f32> = expected.collect();
            assert_eq!(out.to_vec().unwrap(), expected, "{device:?}");
        }
    }
}

#[test]
fn a_place_in_an_array_is_known_to_the_kernel_alone() {
    let table = [3, 1, 4, 1, 5];
    let places: Vec<u8> = (0..40).map(|i| i * 6).collect();
    for device in machines() {
        for negated in [false, true] {
            let x = device.upload(&places).unwrap();
            let mut out = device.upload(&[0_u32; 40]).unwrap();
            let config = LaunchConfig::for_elements(40, 32);
            launch(&device, pick, config, (table, negated, &x, &mut out));
            let expected = places.iter().map(|place| table[usize::from(place % 5)]);
            let expected: Vec<u32> = expected.map(|it| if negated { !it } else { it }).collect();
            assert_eq!(out.to_vec().unwrap(), expected, "{device:?}");
        }
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
    for arch in ["sm_75", "sm_80", "sm_90a"] {
        let draw = entry(arch, "draw").unwrap();
        for parameter in [
            ".align 4 .b8 draw_param_0[12]",
            ".align 4 .b8 draw_param_1[8]",
            ".u8 draw_param_2",
        ] {
            assert!(draw.contains(parameter), "{parameter}: {draw}");
        }
        let pick = entry(arch, "pick").unwrap();
        assert!(pick.contains(".align 4 .b8 pick_param_0[20]"), "{pick}");
        for code in [draw, pick] {
            let copied =
                [".local", "cvta.param", "ld.b", "ld.v", "st.b"].map(|it| code.contains(it));
            assert_eq!(
                copied, [false; 5],
                "parameter memory is read by its name: {code}"
            );
        }
    }
    let clusters = entry("sm_90a", "read_table_in_clusters").unwrap();
    assert!(
        clusters.contains(".reqnctapercluster 2, 1, 1"),
        "{clusters}"
    );
    assert_eq!(entry("sm_80", "read_table_in_clusters"), None);
}
