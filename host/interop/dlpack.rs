//! Exchange of tensors with other libraries and languages through [DLPack], without copies.
//!
//! [`export`] hands a buffer, a matrix or a [`Batch`] of matrices to another library. [`Tensor::import`] takes a tensor
//! of another library; [`Tensor::buffer`], [`Tensor::matrix`] and [`Tensor::batch`] are views of it for calls of this
//! crate. The crate `dlpark`, re-exported
//! here, has the protocol's structures, owners that call a deleter once, and Python capsules.
//!
//! ```
//! use tilewright::Device;
//! use tilewright::interop::dlpack::{self, Tensor, dlpark::versioned::Dlpack};
//!
//! # fn main() -> tilewright::Result<()> {
//! let device = Device::simulator();
//! let a = device.matrix((2, 2), &[1.0_f32, 2.0, 3.0, 4.0])?;
//! let tensor: Dlpack = dlpack::export(a)?; // for another library
//!
//! // SAFETY: the tensor is that of `export`, whose work is done, and nothing else uses it.
//! let tensor = unsafe { Tensor::import(&device, tensor) }?;
//! let a = tensor.matrix::<f32>()?;
//! assert_eq!(device.matmul(a, a.t())?.to_vec()?, [5.0, 11.0, 11.0, 25.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # Devices
//!
//! On CUDA a tensor is a `kDLCUDA` tensor with the device's number. On the simulator it is a `kDLCPU` tensor.
//!
//! # Streams
//!
//! A consumer passes its stream to the producer, which makes the stream wait for the tensor's contents. In Python this
//! is the argument `stream` of `__dlpack__`.
//!
//! | direction | when | call |
//! |---|---|---|
//! | out | another library asks for a tensor, with its stream | [`let_consumer_wait`] |
//! | in | before you ask another library for a tensor | pass [`stream_for_producer`] |
//! | in | when you give the tensor back | [`Tensor::release`], or drop it, which waits for the device |
//!
//! A deleter takes no stream: it frees an exported buffer in the order of the device's stream. So a consumer that works
//! in another stream must not call it until that work is done, or until the device's stream waits for the work.
//!
//! [DLPack]: https://dmlc.github.io/dlpack/latest/

mod element;
mod export;
mod handshake;
mod host_memory;
mod layout;
mod tensor;

pub use ::dlpark;
pub use element::TensorElement;
pub use export::{Batch, Export, export};
pub use handshake::{let_consumer_wait, stream_for_producer};
pub use tensor::Tensor;
