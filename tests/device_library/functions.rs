use crate::{launch, machines, output, upload};
use cuda_std::math;
use cuda_std_test_kernels::functions as kernels;
use half::{bf16, f16};
use tilewright::LaunchConfig;

/// Threads of a block.
const THREADS: u32 = 256;

/// Every 65 521st value of f32, of all signs and magnitudes, NaN among them, and what is special.
fn singles() -> Vec<f32> {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::from_bits(1),
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        -f32::NAN,
    ];
    let spread = (0..=u32::MAX).step_by(65_521).map(f32::from_bits);
    special.into_iter().chain(spread).collect()
}

fn halves() -> Vec<f16> {
    (0..=u16::MAX).map(f16::from_bits).collect()
}

fn brains() -> Vec<bf16> {
    (0..=u16::MAX).map(bf16::from_bits).collect()
}

macro_rules! functions_of_one_number {
    ($($name:ident: $function:ident, $inputs:ident;)*) => {$(
        /// Each machine has the bits of the host, whose errors `crates/cuda_std/tests/math` measures.
        #[test]
        fn $name() {
            let x = $inputs();
            let config = LaunchConfig::for_elements(x.len(), THREADS);
            for device in machines() {
                let mut out = output(&device, x.len());
                launch(&device, kernels::$name, config, (&upload(&device, &x), &mut out));
                for (&x, result) in x.iter().zip(out.to_vec().unwrap()) {
                    let here = math::$function(x);
                    assert_eq!(result.to_bits(), here.to_bits(), "{x:e} on {}", device.name());
                }
            }
        }
    )*};
}
functions_of_one_number! {
    sqrt_f32: sqrt, singles;
    rsqrt_f32: rsqrt, singles;
    exp_f32: exp, singles;
    exp2_f32: exp2, singles;
    ln_f32: ln, singles;
    tanh_f32: tanh, singles;
    erf_f32: erf, singles;
    tanh_f16: tanh, halves;
    exp_bf16: exp, brains;
}
