//! Element types of buffers.

/// Plain data that can live in device memory.
///
/// Every bit pattern is a value, there is no padding, and threads may share it.
///
/// It is implemented for every [`bytemuck::Pod`] type that is `Send + Sync`: the integers, `f32`,
/// `f64`, `half::f16`, `half::bf16`, arrays of them, and structs that derive `bytemuck::Pod`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of device memory",
    note = "elements are `bytemuck::Pod + Send + Sync`: derive `bytemuck::Pod` for your own structs"
)]
pub trait Element: bytemuck::Pod + Send + Sync {}

impl<T: bytemuck::Pod + Send + Sync> Element for T {}
