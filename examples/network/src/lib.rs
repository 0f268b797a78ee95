//! The forward pass of a network of dense layers: `relu(x W + b)` for each, then the softmax of the rows.
//!
//! Nothing comes back to the host between the input and the probabilities.
#![deny(missing_docs, clippy::undocumented_unsafe_blocks)]

use ndarray::{ArrayView1, ArrayView2};
use network_kernels as kernels;
use tilewright::{
    Activation, Buffer, Device, LaunchConfig, Matmul, Matrix, MatrixView, MatrixViewMut,
    ModuleSource, Result,
};

/// The PTX from the build script, with the architecture of each image.
#[cfg(feature = "cuda")]
const IMAGES: &[(&str, &str)] = include!(env!("KERNEL_IMAGES"));

/// The simulator needs no PTX.
#[cfg(not(feature = "cuda"))]
const IMAGES: &[(&str, &str)] = &[];

// SAFETY: the build script compiles the images from the same crate that is used here.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("network", IMAGES) };

/// A network on a device.
pub struct Network {
    device: Device,
    layers: Vec<Layer>,
}

struct Layer {
    /// The weights, inputs x outputs.
    weights: Matrix<f32>,
    bias: Buffer<f32>,
}

impl Network {
    /// A network without layers: its probabilities are the softmax of its input.
    #[must_use]
    pub fn new(device: &Device) -> Self {
        Self {
            device: device.clone(),
            layers: Vec::new(),
        }
    }

    /// Adds a layer with weights of inputs x outputs, and a bias for each output.
    ///
    /// # Errors
    /// Those of [`Device::upload`]. Shapes that do not match are errors of [`probabilities`](Self::probabilities).
    pub fn push(&mut self, weights: ArrayView2<'_, f32>, bias: ArrayView1<'_, f32>) -> Result<()> {
        let weights = self.device.matrix_from_array(weights)?;
        let bias = self.device.upload_array(bias)?;
        self.layers.push(Layer { weights, bias });
        Ok(())
    }

    /// The probabilities of the classes, with a row for each row of `input`.
    ///
    /// They are computed in batches of at most `batch` rows, which limits the memory of the hidden layers.
    ///
    /// # Errors
    /// Those of a product, a launch and an allocation.
    pub fn probabilities(&self, input: &Matrix<f32>, batch: usize) -> Result<Matrix<f32>> {
        let classes = self.layers.last();
        let classes = classes.map_or(input.cols(), |layer| layer.weights.cols());
        let mut all = self.device.matrix_zeros((input.rows(), classes))?;
        for first in (0..input.rows()).step_by(batch.max(1)) {
            let rows = first..input.rows().min(first + batch.max(1));
            let mut part = all.slice_mut(rows.clone(), ..)?;
            self.forward(input.slice(rows, ..)?, &mut part)?;
        }
        softmax_rows(&self.device, all.view_mut())?;
        Ok(all)
    }

    /// The last layer's outputs for `input`, before the softmax.
    fn forward(&self, input: MatrixView<f32>, output: &mut MatrixViewMut<f32>) -> Result<()> {
        let Some((last, hidden)) = self.layers.split_last() else {
            return output.copy_from_matrix(input);
        };
        let mut values: Option<Matrix<f32>> = None;
        for layer in hidden {
            let x = values.as_ref().map_or(input, Matrix::view);
            let product = Matmul::new(x, &layer.weights).column_bias(&layer.bias);
            values = Some(product.activation(Activation::Relu).run()?);
        }
        let x = values.as_ref().map_or(input, Matrix::view);
        let product = Matmul::new(x, &last.weights).column_bias(&last.bias);
        product.run_into(output)
    }
}

/// Replaces each row of `x` by its softmax.
fn softmax_rows(device: &Device, x: MatrixViewMut<'_, f32>) -> Result<()> {
    let threads = x.rows() * device.properties().warp_threads as usize;
    let config = LaunchConfig::for_elements(threads, kernels::MAX_THREADS);
    let module = device.load(&KERNELS)?;
    module.launch(kernels::softmax_rows, config, (x,))
}
