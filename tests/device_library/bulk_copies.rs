use crate::{hoppers, launch, numbers, output, simulators, try_launch, upload};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;
use cuda_std_test_kernels::bulk_copies as kernels;
use simt::{Defect, DefectKind};
use tilewright::{Device, Error, ErrorKind, LaunchConfig};

fn config(blocks: u32) -> LaunchConfig {
    LaunchConfig::new(blocks, 96).with_dynamic_shared(kernels::INCREMENT_BYTES)
}

fn check_increment<K>(kernel: K)
where
    K: Copy
        + for<'launch> Kernel<Params<'launch> = (u32, Global<'launch, u32>, GlobalMut<'launch, u32>)>,
{
    for device in hoppers() {
        for (len, piece) in [(4, 4), (96, 512), (2052, 256), (4000, 512), (1024, 36)] {
            let x: Vec<u32> = numbers(len as u64)
                .map(|number| number as u32 >> 1)
                .take(len)
                .collect();
            let expected: Vec<u32> = x.iter().map(|value| value + 1).collect();
            let (x, mut out) = (upload(&device, &x), output(&device, len));
            launch(&device, kernel, config(3), (piece, &x, &mut out));
            let out = out.to_vec().unwrap();
            assert_eq!(out, expected, "{len} in pieces of {piece} on {device:?}");
        }
    }
}

#[test]
fn pieces_are_copied_and_stored() {
    check_increment(kernels::bulk_increment);
    check_increment(kernels::bulk_increment_hinted);
}

/// The errors in pieces of `piece` elements of two views of these lengths.
fn increment_defect(
    device: &Device,
    piece: u32,
    (len, out_len): (usize, usize),
) -> Option<Box<Defect>> {
    let x = upload(device, &vec![1; len]);
    let mut out = output(device, out_len);
    let kernel = kernels::bulk_increment;
    let launched = try_launch(device, kernel, config(1), (piece, &x, &mut out));
    match launched.map_err(Error::into_kind) {
        Ok(()) => None,
        Err(ErrorKind::KernelDefect(defect)) => Some(defect),
        Err(other) => panic!("{other:?}"),
    }
}

/// The defect is in a line of the kernels with `words`.
fn check_line(defect: &Defect, words: &str) {
    let location = defect.location.as_ref().expect("a line");
    assert!(
        location
            .file
            .replace('\\', "/")
            .ends_with("kernels/bulk_copies.rs"),
        "{defect}"
    );
    let source = include_str!("../../crates/cuda_std/tests/kernels/bulk_copies.rs");
    let line = source.lines().nth(location.line as usize - 1);
    assert!(line.expect("a line").contains(words), "{defect}");
}

#[test]
fn a_copy_that_is_no_multiple_of_16_bytes_is_reported() {
    for device in simulators() {
        let defect = increment_defect(&device, 6, (48, 48)).expect("24 bytes");
        assert_eq!(defect.kind, DefectKind::Misaligned, "{defect}");
        assert!(defect.to_string().contains("24 bytes"), "{defect}");
        check_line(&defect, "x.bulk_load(");
        assert!(increment_defect(&device, 8, (48, 48)).is_none());
    }
}

#[test]
fn a_copy_past_the_end_of_its_view_is_reported() {
    for device in simulators() {
        let defect = increment_defect(&device, 16, (40, 48)).expect("8 elements are missing");
        assert_eq!(defect.kind, DefectKind::OutOfBounds, "{defect}");
        let view = "of a global view (parameter `x`), whose length is 40";
        assert!(defect.message.contains(view), "{defect}");
        check_line(&defect, "x.bulk_load(");
        assert!(increment_defect(&device, 16, (48, 48)).is_none());
    }
}

#[test]
fn boxes_are_copied_with_policies() {
    let (rows, columns) = kernels::BOX;
    let values = |seed, count: usize| -> Vec<f32> {
        let numbers = numbers(seed).map(|number| (number % 1000) as f32);
        numbers.take(count * rows * columns).collect()
    };
    let (common, own) = (values(1, 1), values(2, 2));
    let (first, second) = own.split_at(rows * columns);
    let expected = [&common[..], first, &common[..], second].concat();
    for device in hoppers() {
        let common = device.matrix((rows, columns), &common).unwrap();
        let own = device.matrix((2 * rows, columns), &own).unwrap();
        let mut out = device.matrix_uninit::<f32>((4 * rows, columns)).unwrap();
        let config = LaunchConfig::new(2, 64).with_dynamic_shared(kernels::BOXES_BYTES);
        let maps = (
            &common.tensor_map().unwrap(),
            &own.tensor_map().unwrap(),
            &out.tensor_map_mut().unwrap(),
        );
        launch(&device, kernels::hinted_boxes, config, maps);
        assert_eq!(out.to_vec().unwrap(), expected, "{}", device.name());
    }
}
