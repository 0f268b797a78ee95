use crate::{MODULE, launch, machines, output, simulators, try_launch, upload};
use cuda_std_test_kernels::{defects, symbols as kernels};
use simt::DefectKind;
use std::sync::OnceLock;
use tilewright::{
    Device, Error, ErrorKind, KernelBodies, LaunchConfig, ModuleSource, SimulatorOptions,
    SymbolCall,
};

/// A test's own module on CUDA devices, whose static arrays no other test touches.
macro_rules! module {
    () => {{
        static OWN: ModuleSource = {
            // SAFETY: (1) as for `MODULE`.
            unsafe { ModuleSource::new("static arrays of a test", cuda_std_test_kernels::IMAGES) }
        };
        &OWN
    }};
}

#[test]
fn static_arrays_are_added() {
    let source = module!();
    for device in machines() {
        let module = device.load(source).unwrap();
        let four = LaunchConfig::new(1, 4);
        assert_eq!(
            module.read_symbol(&kernels::U).unwrap(),
            [1.0, 2.0, 3.0, 4.0]
        );
        module.launch(kernels::add_v_to_u, four, ()).unwrap();
        assert_eq!(
            module.read_symbol(&kernels::U).unwrap(),
            [6.0, 8.0, 10.0, 12.0]
        );

        module
            .write_symbol(&kernels::V, &[0.5, -1.0, 0.0, 1e30])
            .unwrap();
        module.launch(kernels::add_v_to_u, four, ()).unwrap();
        let sums = [6.5, 7.0, 10.0, 12.0 + 1e30];
        assert_eq!(module.read_symbol(&kernels::U).unwrap(), sums);
        assert_eq!(
            module.read_symbol(&kernels::V).unwrap(),
            [0.5, -1.0, 0.0, 1e30]
        );
    }
}

#[test]
fn kernels_write_odd_lengths_and_narrow_elements() {
    let source = module!();
    for device in machines() {
        let module = device.load(source).unwrap();
        let values: Vec<u8> = (0..13).map(|i| 20 * i).collect();
        module.write_symbol(&kernels::BYTES, &values).unwrap();
        // SAFETY: (1) one block.
        unsafe { module.launch_unsafe(kernels::shift, LaunchConfig::new(1, 64), (3_u8,)) }.unwrap();
        let mut shifted: Vec<u8> = values.iter().map(|value| value.wrapping_add(3)).collect();
        shifted.rotate_right(1);
        assert_eq!(module.read_symbol(&kernels::BYTES).unwrap(), shifted);
    }
}

#[test]
fn atomic_updates_add_up_over_launches() {
    let source = module!();
    for device in machines() {
        let module = device.load(source).unwrap();
        for launches in 1..=3 {
            module
                .launch(kernels::count, LaunchConfig::new(10, 30), ())
                .unwrap();
            assert_eq!(
                module.read_symbol(&kernels::COUNTERS).unwrap(),
                [100 * launches; 3]
            );
        }
    }
}

#[test]
fn the_host_sets_constants_before_a_launch() {
    let source = module!();
    for device in machines() {
        let module = device.load(source).unwrap();
        let x = upload(&device, &[1.0, 2.0, 3.0, 4.0]);
        let mut y = output::<f64>(&device, 4);
        let config = LaunchConfig::new(1, 32);
        module.launch(kernels::scale, config, (&x, &mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [1.0, 20.0, 300.0, 4.0]);
        for factor in [-1.0, 0.25] {
            module
                .write_symbol(&kernels::FACTORS, &[factor, 0.0, 2.0])
                .unwrap();
            module.launch(kernels::scale, config, (&x, &mut y)).unwrap();
            assert_eq!(y.to_vec().unwrap(), [factor, 0.0, 6.0, 4.0 * factor]);
        }
        assert_eq!(
            module.read_symbol(&kernels::FACTORS).unwrap(),
            [0.25, 0.0, 2.0]
        );
    }
}

#[test]
fn lengths_and_alignment_are_known() {
    for device in machines() {
        let mut out = output::<u64>(&device, 4);
        launch(
            &device,
            kernels::shapes,
            LaunchConfig::new(1, 1),
            (&mut out,),
        );
        assert_eq!(out.to_vec().unwrap(), [4, 13, 3, 0]);
    }
}

#[test]
fn other_lengths_are_refused() {
    for device in machines() {
        let module = device.load(&MODULE).unwrap();
        let error = module.write_symbol(&kernels::V, &[1.0; 5]).unwrap_err();
        let is_length = matches!(
            error.kind(),
            ErrorKind::WrongLength {
                expected: 4,
                found: 5,
                ..
            }
        );
        assert!(is_length && error.operation() == "write_symbol", "{error}");
    }
}

/// A CUDA device does not find an array that no image has. The simulator has every array of the program.
#[test]
fn arrays_of_another_module_are_not_there() {
    cuda_std::global_array! {
        static ELSEWHERE: [u32; 2] = [1, 2];
    }
    for device in machines() {
        let module = device.load(&MODULE).unwrap();
        match module.read_symbol(&ELSEWHERE) {
            Ok(values) => assert!(device.is_simulator() && values == [1, 2]),
            Err(error) => {
                let message = error.to_string();
                let is_missing = matches!(
                    error.kind(),
                    ErrorKind::NoSymbol {
                        symbol: "ELSEWHERE",
                        ..
                    }
                );
                assert!(is_missing && !device.is_simulator(), "{message}");
            }
        }
    }
}

#[test]
fn devices_and_modules_do_not_see_each_others_values() {
    let (one, other) = (module!(), module!());
    let devices = simulators();
    for (value, device) in (0_u8..).zip(&devices) {
        for (offset, source) in [(0, one), (100, other)] {
            let module = device.load(source).unwrap();
            module
                .write_symbol(&kernels::BYTES, &[value + offset; 13])
                .unwrap();
        }
    }
    for (value, device) in (0_u8..).zip(&devices) {
        for (offset, source) in [(0, one), (100, other)] {
            let module = device.load(source).unwrap();
            // SAFETY: (1) one block.
            unsafe { module.launch_unsafe(kernels::shift, LaunchConfig::new(1, 13), (1_u8,)) }
                .unwrap();
            assert_eq!(
                module.read_symbol(&kernels::BYTES).unwrap(),
                [value + offset + 1; 13]
            );
        }
    }
}

/// Launches from several host threads are done one after another, as in a stream.
#[test]
fn host_threads_share_a_device_and_its_arrays() {
    let source = module!();
    for device in machines() {
        let module = device.load(source).unwrap();
        module.write_symbol(&kernels::V, &[1.0; 4]).unwrap();
        module.write_symbol(&kernels::U, &[0.0; 4]).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        let four = LaunchConfig::new(1, 4);
                        module.launch(kernels::add_v_to_u, four, ()).unwrap();
                    }
                });
            }
        });
        assert_eq!(module.read_symbol(&kernels::U).unwrap(), [100.0; 4]);
    }
}

#[test]
fn a_race_on_a_static_array_is_found() {
    for device in simulators() {
        let config = LaunchConfig::new(2, 64);
        let launched = try_launch(&device, defects::static_array_race, config, ());
        match launched.map_err(Error::into_kind) {
            Err(ErrorKind::KernelDefect(defect)) => {
                assert_eq!(defect.kind, DefectKind::DataRace, "{defect}");
                let line = defect.location.as_ref().unwrap().line;
                let lines = crate::defects::marked_lines("static_array_race");
                assert!(lines.contains(&line), "{defect}");
            }
            other => panic!("{other:?}"),
        }
        // A single thread cannot race with itself.
        launch(
            &device,
            defects::static_array_race,
            LaunchConfig::new(1, 1),
            (),
        );
    }
}

#[test]
#[should_panic(expected = "`U` was viewed outside of a launch")]
fn a_static_array_is_not_viewed_on_the_host() {
    kernels::U.with(|u| u.len());
}

/// Who says where a static array is may use the device for it.
#[test]
fn arrays_elsewhere_are_found_by_launches_of_the_device() {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    let find = |_: &SymbolCall| {
        let device = DEVICE.get().unwrap();
        let sum = device.reduce_sum(&upload(device, &[1_u32; 100])).unwrap();
        assert_eq!(sum, 100);
        None
    };
    // SAFETY: all kernels and static arrays stay as they are.
    let bodies = unsafe { KernelBodies::new(|_| None).with_symbols(find) };
    let device = Device::simulator_with(SimulatorOptions::default().with_bodies(bodies));
    DEVICE.set(device.clone()).expect("set once");
    let module = device.load(&MODULE).unwrap();
    module.write_symbol(&kernels::V, &[2.0; 4]).unwrap();
    assert_eq!(module.read_symbol(&kernels::V).unwrap(), [2.0; 4]);
}

/// A module with a macro of the name of the one that makes an array's name.
mod shadowing {
    macro_rules! another_name {
        ($name:ident) => {
            "U"
        };
    }
    use another_name as stringify;

    tilewright::cuda_std::constant_array! {
        /// Not the array `U`.
        pub static OWN_NAME: [f32; 4] = [0.0; 4];
    }

    pub const OTHER: &str = stringify!(OWN_NAME);
}

#[test]
fn names_of_static_arrays_are_their_own() {
    use tilewright::cuda_std::symbol::Symbol as _;
    assert_eq!(shadowing::OTHER, "U");
    assert_eq!(shadowing::OWN_NAME.name(), "OWN_NAME");
}
