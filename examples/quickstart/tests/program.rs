//! Quickstart as a program: its output and its failures.

use std::path::Path;
use tilewright::Device;
use tilewright_test_support::programs::{fail, succeed};

#[test]
fn results_are_checked_on_every_device() {
    let cuda = Device::cuda(0).is_ok().then_some("cuda");
    for device in ["sim"].into_iter().chain(cuda) {
        let output = succeed("quickstart", Path::new("."), &["--device", device]);
        for part in [
            "device: ",
            "reduce_sum of 1000000 f32",
            "matmul of 512x512 f32",
            "error",
            "allowed",
        ] {
            assert!(output.contains(part), "{part} is missing in: {output}");
        }
    }
}

#[test]
fn usage_is_shown() {
    let output = succeed("quickstart", Path::new("."), &["--help"]);
    assert!(output.starts_with("usage: quickstart "), "{output}");
}

#[test]
fn wrong_command_lines_are_refused_in_one_line() {
    for (arguments, parts) in [
        (&["more"][..], &["more"][..]),
        (&["--device", "gpu"], &["gpu", "sim, cuda or cuda:N"]),
        (&["--device"], &["--device"]),
    ] {
        fail("quickstart", Path::new("."), arguments, parts);
    }
}

#[test]
fn a_device_that_is_not_there_is_refused_in_one_line() {
    if let Err(error) = Device::cuda(0) {
        let to_programmers = "device `sim`, or Device::simulator() in code";
        let expected = error.to_string().replace(to_programmers, "--device sim");
        assert_ne!(expected, error.to_string());
        fail(
            "quickstart",
            Path::new("."),
            &["--device", "cuda"],
            &[&expected],
        );
    }
}

#[cfg(unix)]
mod output {
    use std::path::Path;
    use tilewright_test_support::programs::broken_output;

    const RUNS: [(&str, &str); 2] = [("quickstart", "--device sim"), ("quickstart", "--help")];

    #[test]
    fn a_closed_standard_output_ends_it_quietly() {
        broken_output::closed_ends_quietly(Path::new("."), &RUNS);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_standard_output_ends_it_with_one_line() {
        broken_output::full_ends_with_one_line(Path::new("."), &RUNS);
    }
}
