//! The name of a view stands for a type that ends with the launch, even through an associated type.

use cuda_std::prelude::*;

mod odd {
    use cuda_std::bytemuck::Pod;

    pub trait Ignores {
        type Constant<'a>;
        type View<'a>;
    }
    impl<T: Pod> Ignores for T {
        type Constant<'a> = cuda_std::grid_constant::GridConstant<'static, T>;
        type View<'a> = cuda_std::global::GlobalMut<'static, T>;
    }
    pub type GridConstant<'a, T> = <T as Ignores>::Constant<'a>;
    pub type GlobalMut<'a, T> = <T as Ignores>::View<'a>;
}

#[kernel]
pub fn keep(x: odd::GridConstant<[u64; 64]>) {
    let _ = x[0];
}

#[kernel]
pub fn keep_view(x: odd::GlobalMut<f32>) {
    let _ = x.len();
}

fn main() {}
