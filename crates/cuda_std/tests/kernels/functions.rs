//! Mathematical functions.

use cuda_std::math;
use cuda_std::prelude::*;

macro_rules! functions_of_one_number {
    ($($name:ident: $element:ty, $function:ident;)*) => {$(
        #[doc = concat!("`", stringify!($function), "` of each ", stringify!($element), ".")]
        #[kernel]
        pub fn $name(x: Global<$element>, out: GlobalMut<$element>) {
            let index = thread::own_index();
            if let (Some(x), Some(out)) = (x.get(index.get()), out.own(index)) {
                out.set(math::$function(x));
            }
        }
    )*};
}
functions_of_one_number! {
    sqrt_f32: f32, sqrt;
    rsqrt_f32: f32, rsqrt;
    exp_f32: f32, exp;
    exp2_f32: f32, exp2;
    ln_f32: f32, ln;
    tanh_f32: f32, tanh;
    erf_f32: f32, erf;
    tanh_f16: half::f16, tanh;
    exp_bf16: half::bf16, exp;
}
