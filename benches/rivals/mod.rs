//! Other libraries for the same jobs on CUDA devices. Each is looked up when a benchmark starts; a
//! line names those that are missing.

#![allow(dead_code, reason = "each benchmark uses a part of it")]

pub mod cub;
pub mod cub_reductions;
pub mod cub_reproducible;
pub mod cublas;
pub mod cublas_lt;
pub mod driver;
mod library;

use crate::common::Result;
use cub::Cub;
use cub_reductions::CubReductions;
use cub_reproducible::CubReproducible;
use cublas::CuBlas;
use cublas_lt::CuBlasLt;
use std::rc::Rc;
use tilewright::Device;

/// The available rivals.
#[derive(Default)]
pub struct Rivals {
    pub cub: Option<Rc<Cub>>,
    pub reductions: Option<Rc<CubReductions>>,
    pub reproducible: Option<Rc<CubReproducible>>,
    pub cublas: Option<Rc<CuBlas>>,
    pub cublas_lt: Option<Rc<CuBlasLt>>,
}

impl Rivals {
    /// The rivals of sums. The simulator has none.
    pub fn of_sums(device: &Device) -> Self {
        Self {
            cub: find("CUB", device, Cub::compile),
            ..Self::default()
        }
    }

    /// The rivals of the other reductions.
    pub fn of_reductions(device: &Device) -> Self {
        Self {
            reductions: find("CUB's reductions", device, CubReductions::compile),
            reproducible: find("CUB's reproducible sums", device, CubReproducible::compile),
            ..Self::default()
        }
    }

    /// The rivals of products.
    pub fn of_products(device: &Device) -> Self {
        Self {
            cublas: find("cuBLAS", device, CuBlas::load),
            cublas_lt: find("cuBLASLt", device, CuBlasLt::load),
            ..Self::default()
        }
    }

    /// All rivals.
    pub fn all(device: &Device) -> Self {
        let sums = Self::of_sums(device);
        Self {
            cub: sums.cub,
            cublas: Self::of_products(device).cublas,
            ..Self::of_reductions(device)
        }
    }

    /// Their names and versions.
    pub fn versions(&self) -> Vec<(&'static str, &str)> {
        let cub = self.cub.iter().map(|cub| ("CUB", cub.version()));
        let reproducible = self
            .reproducible
            .iter()
            .map(|cub| ("CUB of reproducible sums", cub.version()));
        let cublas = self
            .cublas
            .iter()
            .map(|cublas| ("cuBLAS", cublas.version()));
        cub.chain(reproducible).chain(cublas).collect()
    }
}

fn find<R>(name: &str, device: &Device, open: fn(&Device) -> Result<R>) -> Option<Rc<R>> {
    if device.is_simulator() {
        return None;
    }
    match open(device) {
        Ok(rival) => Some(Rc::new(rival)),
        Err(error) => {
            eprintln!("rival skipped: {name}: {error}");
            None
        }
    }
}
