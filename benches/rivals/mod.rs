//! Other libraries for the same jobs on CUDA devices. Each is loaded when a benchmark starts;
//! missing ones are reported.

#![allow(dead_code, reason = "each benchmark uses a part of it")]

pub mod cub;
pub mod cub_reductions;
pub mod cub_reproducible;
pub mod cublas;
pub mod cublas_lt;
pub mod driver;
mod library;
pub mod nvcc;
pub mod torch;

use crate::common::Result;
use cub::Cub;
use cub_reductions::CubReductions;
use cub_reproducible::CubReproducible;
use cublas::CuBlas;
use cublas_lt::CuBlasLt;
use std::collections::BTreeMap;
use std::rc::Rc;
use tilewright::Device;
use torch::Torch;

/// The available rivals.
#[derive(Default)]
pub struct Rivals {
    pub cub: Option<Rc<Cub>>,
    pub reductions: Option<Rc<CubReductions>>,
    pub reproducible: Option<Rc<CubReproducible>>,
    pub cublas: Option<Rc<CuBlas>>,
    pub cublas_lt: Option<Rc<CuBlasLt>>,
    pub torch: Option<Rc<Torch>>,
}

impl Rivals {
    /// The rivals of sums. The simulator has none.
    pub fn of_sums(device: &Device) -> Self {
        Self {
            cub: find("CUB", device, Cub::compile),
            ..Self::default()
        }
    }

    /// The rivals of reductions and scans.
    pub fn of_reductions(device: &Device) -> Self {
        Self {
            reductions: find("CUB's reductions", device, CubReductions::compile),
            reproducible: find("CUB's reproducible sums", device, CubReproducible::compile),
            torch: find("torch", device, Torch::start),
            ..Self::of_sums(device)
        }
    }

    /// The rivals of operations on rows.
    pub fn of_rows(device: &Device) -> Self {
        Self {
            torch: find("torch", device, Torch::start),
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

    /// The rivals' versions, by name.
    pub fn versions(&self) -> BTreeMap<String, Option<String>> {
        let all = [
            ("CUB", self.cub.as_ref().map(|it| it.version())),
            ("cuBLAS", self.cublas.as_ref().map(|it| it.version())),
            ("cuBLASLt", self.cublas_lt.as_ref().map(|it| it.version())),
            ("torch", self.torch.as_ref().map(|it| it.version())),
        ];
        let found = all.into_iter().filter(|(_, version)| version.is_some());
        found
            .map(|(name, version)| (name.to_owned(), version.map(str::to_owned)))
            .collect()
    }
}

/// The sources of all rivals that nvcc compiles.
pub fn sources() -> Vec<nvcc::Source> {
    let mut sources = Cub::sources();
    sources.extend(CubReductions::sources());
    sources.extend(CubReproducible::sources());
    sources
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
