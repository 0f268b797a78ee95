//! Why no kernel computes a problem, and what to do.

use super::Plan;
use super::problem::{DeviceFacts, Problem};
use super::rules::Request;
use crate::matmul::arithmetic::Arithmetic;
use crate::matmul::types::ElementType;
use crate::matrix::Order;
use tilewright_kernels::tensor::lowest_exponent;

/// The compute capabilities that kernels are compiled for, and one that is newer than all of them.
const CAPABILITIES: [(u32, u32); 5] = [(7, 0), (7, 5), (8, 0), (8, 9), (9, 0)];
const NEWEST: (u32, u32) = (10, 0);

/// Why `request` has no kernel for `problem`, and what to do. [`Plan::of`] must have found none.
pub fn obstacle(problem: &Problem, device: DeviceFacts, request: Request) -> String {
    let arithmetic = match request {
        Request::Fastest(arithmetic, _)
        | Request::FastestAt(_, arithmetic, _)
        | Request::PartOf { arithmetic, .. } => arithmetic,
        _ => Arithmetic::Auto,
    };
    // No choice of arithmetic helps elements without a kernel.
    of_blocks_and_groups(problem)
        .or_else(|| of_arithmetic(problem, arithmetic))
        .or_else(|| of_device(problem, device, request))
        .unwrap_or_else(|| {
            "the matrices are larger than kernels count; divide the product into smaller ones"
                .to_owned()
        })
}

/// Why the arithmetic does not compute the problem on any device.
fn of_arithmetic(problem: &Problem, arithmetic: Arithmetic) -> Option<String> {
    let Problem {
        element, output, k, ..
    } = *problem;
    let is_exact = output == element.of_sums();
    match (arithmetic, element) {
        (Arithmetic::Chain, ElementType::F32 | ElementType::F64) => None,
        (Arithmetic::Chain, ElementType::I8) if is_exact => None,
        (Arithmetic::Chain, ElementType::I8) => Some(format!(
            "Arithmetic::Chain of i8 has results of i32, not of {output}; use Arithmetic::Auto"
        )),
        (Arithmetic::Chain, _) => Some(format!(
            "Arithmetic::Chain is for f32, f64 and i8, not for {element}; use Arithmetic::Auto"
        )),
        (Arithmetic::Split, ElementType::F32) => {
            not_split(k).map(|reason| format!("{reason}; use Arithmetic::Auto"))
        }
        (Arithmetic::Split, _) => Some(format!(
            "Arithmetic::Split is for f32, not for {element}; use Arithmetic::Auto"
        )),
        (Arithmetic::Exact, ElementType::F32 | ElementType::F64) => None,
        (Arithmetic::Exact, _) => Some(format!(
            "Arithmetic::Exact is for f32 and f64, not for {element}; use Arithmetic::Auto"
        )),
        (Arithmetic::Auto | Arithmetic::BatchInvariant, _) => None,
    }
}

/// Why a product with this K is not split, if it is not.
pub fn not_split(k: usize) -> Option<String> {
    let is_split = |k| lowest_exponent(k).is_some();
    let least = (0..).find(|&k| is_split(k))?;
    (!is_split(k)).then(|| {
        format!("only products with K (the rows of B) of at least {least} are split, and K is {k}")
    })
}

/// Why no kernel multiplies operands with block scales, or rows that are counted on the device.
fn of_blocks_and_groups(problem: &Problem) -> Option<String> {
    let Problem {
        element, output, ..
    } = *problem;
    let has_kernel = match problem.is_scaled {
        true => true,
        false => element.is_half() && output == element && problem.a.order == Order::RowMajor,
    };
    (problem.is_counted && !has_kernel).then(|| {
        "rows are counted on the device for a row-major A of f16 or bf16 with results of its type, and for F8E4M3 with \
         block scales; multiply each group on its own"
            .to_owned()
    })
}

/// The feature that the device lacks.
fn of_device(problem: &Problem, device: DeviceFacts, request: Request) -> Option<String> {
    let computes = |facts, request| Plan::of(problem, facts, request).is_some();
    let with_usual_warps = DeviceFacts {
        warp_threads: 32,
        ..device
    };
    if computes(with_usual_warps, request) {
        let threads = device.warp_threads;
        let remedy = match problem.element {
            ElementType::F32 | ElementType::F64 | ElementType::I8 => "use another arithmetic",
            _ => "use f32, f64 or i8",
        };
        return Some(format!(
            "its kernels are for warps of 32 threads, and this device has warps of {threads}; {remedy}"
        ));
    }
    // For a limited request, the request without the limit.
    let (limit, request) = match request {
        Request::FastestAt(limit, arithmetic, tiles) => {
            (Some(limit), Request::Fastest(arithmetic, tiles))
        }
        other => (None, other),
    };
    let at = |capability| DeviceFacts {
        compute_capability: Some(capability),
        limit: None,
        driver: None,
        ..with_usual_warps
    };
    let needed = CAPABILITIES
        .into_iter()
        .find(|&it| computes(at(it), request))?;
    let or_newer = match computes(at(NEWEST), request) {
        true => " or newer",
        false => "",
    };
    let (major, minor) = needed;
    let found = match (limit, device.compute_capability) {
        (Some((major, minor)), _) => {
            format!(
                "the call asks for kernels of {major}.{minor}; raise that limit, or use f32 or f64"
            )
        }
        (None, Some((major, minor))) => {
            format!("this device has {major}.{minor}; use another device, or f32 or f64")
        }
        (None, None) => return None,
    };
    Some(format!(
        "its kernels need compute capability {major}.{minor}{or_newer}, and {found}"
    ))
}
