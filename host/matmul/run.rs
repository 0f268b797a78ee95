//! A product from its operands to its result: check, plan, stage, execute.

use super::arithmetic::Arithmetic;
use super::epilogue::Epilogue;
use super::execute::grouped::{self, Grouped, fit_group};
use super::execute::{Computes, exact, mirror, parts, split, tiles, vector, warpgroup};
use super::kernel::TileSize;
use super::operands::{Matrices, Operands};
use super::plan::{
    DeviceFacts, Division, Plan, Problem, Request, Steps, is_alone, obstacle, select_in_group,
};
use super::types::{ElementType, EpilogueScalar};
use crate::device::Device;
use crate::element::Element;
use crate::error::{ErrorKind, Outcome};
use crate::matrix::{Matrix, MatrixBatchMut, MatrixViewMut};
use cuda_std::fp8::{F8E4M3, F8E5M2};
use half::{bf16, f16};
use std::rc::Rc;

/// Declares the kernels that launch the products of each pair of types: for each kind of steps, for a divided K, and
/// for unequal shapes.
macro_rules! products {
    ($($element:ident $name:ident => $output:ident $output_name:ident in $scalar:ident:
        [$($steps:ident by $launch:path),*], parts by $parts:path, all by $all:path;)*) => {$(
        impl Computes<$output, $scalar> for $element {
            const TYPES: (ElementType, ElementType) =
                (ElementType::$name, ElementType::$output_name);

            // Inline, so that a program compiles only the kernels of the types that it multiplies.
            #[inline]
            fn launch(
                plan: &Plan,
                mut matrices: Matrices<'_, Self, $output, $scalar>,
            ) -> Outcome<()> {
                if plan.is_transposed {
                    matrices = matrices.transposed();
                }
                match &plan.steps {
                    $(Steps::$steps { .. } => $launch(plan, matrices),)*
                    _ => unreachable!("no product of these types is launched so"),
                }
            }

            #[inline]
            fn execute(plan: &Plan, matrices: Matrices<'_, Self, $output, $scalar>) -> Outcome<()> {
                match &plan.division {
                    Some(division) => $parts(plan, division, matrices),
                    None => Self::launch(plan, matrices),
                }
            }

            #[inline]
            fn plan(
                device: &Device,
                request: Request,
                operands: &Operands<'_, Self>,
                epilogue: &Epilogue<'_, $scalar>,
            ) -> Outcome<(Plan, Problem)> {
                plan_in_new::<Self, $output, $scalar>(device, request, operands, epilogue)
            }

            #[inline]
            fn in_new(
                device: &Device,
                request: Request,
                operands: &Operands<'_, Self>,
                epilogue: &Epilogue<'_, $scalar>,
            ) -> Outcome<Matrix<$output>> {
                in_new(device, request, operands, epilogue)
            }

            #[inline]
            fn write(
                device: &Device,
                request: Request,
                operands: &Operands<'_, Self>,
                c: MatrixBatchMut<'_, $output>,
                epilogue: &Epilogue<'_, $scalar>,
            ) -> Outcome<()> {
                write(device, request, operands, c, epilogue)
            }

            #[inline]
            fn write_all(
                device: &Device,
                arithmetic: Arithmetic,
                products: Vec<(Operands<'_, Self>, MatrixViewMut<'_, $output>)>,
                epilogue: Epilogue<'_, $scalar>,
            ) -> Outcome<()> {
                let arithmetic = epilogue.arithmetic(arithmetic);
                $all(device, arithmetic, checked(device, products, epilogue)?)
            }
        }
    )*};
}
products! {
    f16 F16 => f16 F16 in f32:
        [Tiles by tiles::multiply, Warpgroups by warpgroup::multiply,
            Scaled by warpgroup::multiply_scaled, Vector by vector::multiply],
        parts by parts::multiply, all by run_together;
    f16 F16 => f32 F32 in f32:
        [Tiles by tiles::multiply, Warpgroups by warpgroup::multiply, Vector by vector::multiply],
        parts by parts::multiply, all by run_each;
    bf16 Bf16 => bf16 Bf16 in f32:
        [Tiles by tiles::multiply, Warpgroups by warpgroup::multiply,
            Scaled by warpgroup::multiply_scaled, Vector by vector::multiply],
        parts by parts::multiply, all by run_together;
    bf16 Bf16 => f32 F32 in f32:
        [Tiles by tiles::multiply, Warpgroups by warpgroup::multiply, Vector by vector::multiply],
        parts by parts::multiply, all by run_each;
    f32 F32 => f32 F32 in f32:
        [Tiles by tiles::multiply, Split by split::multiply, Vector by vector::multiply,
            Exact by exact::multiply],
        parts by parts::multiply_columns, all by run_together;
    f64 F64 => f64 F64 in f64:
        [Tiles by tiles::multiply, Vector by vector::multiply,
            Exact by exact::multiply, Residues by exact::multiply],
        parts by parts::multiply_columns, all by run_together;
    F8E4M3 F8E4M3 => bf16 Bf16 in f32:
        [Warpgroups by warpgroup::multiply, Scaled by warpgroup::multiply_scaled,
            VectorOfWords by vector::multiply_words],
        parts by parts::multiply, all by run_each;
    F8E4M3 F8E4M3 => f32 F32 in f32:
        [Warpgroups by warpgroup::multiply, Scaled by warpgroup::multiply_scaled,
            VectorOfWords by vector::multiply_words],
        parts by parts::multiply, all by run_each;
    F8E5M2 F8E5M2 => bf16 Bf16 in f32:
        [Warpgroups by warpgroup::multiply, VectorOfWords by vector::multiply_words],
        parts by parts::multiply, all by run_each;
    F8E5M2 F8E5M2 => f32 F32 in f32:
        [Warpgroups by warpgroup::multiply, VectorOfWords by vector::multiply_words],
        parts by parts::multiply, all by run_each;
    i8 I8 => i32 I32 in i32:
        [Tiles by tiles::multiply, TilesOfWords by tiles::multiply_words,
            Warpgroups by warpgroup::multiply, VectorOfWords by vector::multiply_words],
        parts by parts::multiply, all by run_each;
    i8 I8 => f32 F32 in f32:
        [Tiles by tiles::multiply, Warpgroups by warpgroup::multiply,
            VectorOfWords by vector::multiply_words],
        parts by parts::multiply, all by run_each;
    i8 I8 => bf16 Bf16 in f32:
        [Tiles by tiles::multiply, Warpgroups by warpgroup::multiply,
            VectorOfWords by vector::multiply_words],
        parts by parts::multiply, all by run_each;
    // Residues.
    i8 I8 => i8 I8 in i32:
        [Tiles by tiles::multiply, Warpgroups by warpgroup::multiply],
        parts by no_parts, all by run_each;
    i8 I8 => f16 F16 in f32:
        [Tiles by tiles::multiply, Warpgroups by warpgroup::multiply,
            VectorOfWords by vector::multiply_words],
        parts by parts::multiply, all by run_each;
}

/// For products of a batch, whose K is not divided.
fn no_parts(_: &Plan, _: &Division, _: Matrices<'_, i8, i8, i32>) -> Outcome<()> {
    unreachable!("products of residues are a batch")
}

/// The products in a new matrix, one below the other.
fn in_new<T: Computes<O, S>, O: Element, S: EpilogueScalar>(
    device: &Device,
    request: Request,
    operands: &Operands<'_, T>,
    epilogue: &Epilogue<'_, S>,
) -> Outcome<Matrix<O>> {
    operands.check_inner()?;
    let count = operands.results()?;
    let (rows, columns, _) = operands.extents();
    let all_rows = rows.checked_mul(count).ok_or_else(|| ErrorKind::TooLarge {
        what: format!("a batch of {count} results with {rows} rows each"),
        remedy: "multiply the batch in parts",
    })?;
    let shape = (all_rows, columns).into();
    let mut c = match operands.counts {
        // Rows outside the groups are not written.
        Some(_) => Matrix::zeroed(device, shape)?,
        None => Matrix::uninit(device, shape)?,
    };
    let results = c.view_mut().into_equal_rows(count)?;
    write(device, request, operands, results, &epilogue.in_new())?;
    Ok(c)
}

/// Writes the products to `c`.
fn write<T: Computes<O, S>, O: Element, S: EpilogueScalar>(
    device: &Device,
    request: Request,
    operands: &Operands<'_, T>,
    mut c: MatrixBatchMut<'_, O>,
    epilogue: &Epilogue<'_, S>,
) -> Outcome<()> {
    Matrices::check(device, operands, &c, epilogue)?;
    if c.view().first().is_empty() {
        return Ok(());
    }
    let matrices = Matrices::in_stream_of(device, operands, c.view_mut(), epilogue);
    let request = request.for_epilogue(epilogue);
    let plan = device.recent_plan(request, &matrices.problem(T::TYPES))?;
    T::execute(&plan, matrices)?;
    match plan.is_mirrored {
        true => mirror(device, c),
        false => Ok(()),
    }
}

/// The plan of products in new matrices, and their problem.
fn plan_in_new<T: Computes<O, S>, O: Element, S: EpilogueScalar>(
    device: &Device,
    request: Request,
    operands: &Operands<'_, T>,
    epilogue: &Epilogue<'_, S>,
) -> Outcome<(Plan, Problem)> {
    operands.check_inner()?;
    let problem = operands.problem_in_new(T::TYPES, &epilogue.in_new())?;
    let plan = device.plan(request.for_epilogue(epilogue), &problem)?;
    Ok((plan, problem))
}

/// The matrices of products of unequal shapes, without those whose results have no elements.
fn checked<'a, T: Computes<O, S>, O: Element, S: EpilogueScalar>(
    device: &'a Device,
    products: Vec<(Operands<'a, T>, MatrixViewMut<'a, O>)>,
    epilogue: Epilogue<'a, S>,
) -> Outcome<Vec<Matrices<'a, T, O, S>>> {
    let of = |(operands, c): (Operands<'a, T>, MatrixViewMut<'a, O>)| {
        let (is_empty, c) = (c.is_empty(), MatrixBatchMut::from(c));
        match Matrices::check(device, &operands, &c, &epilogue) {
            Ok(()) if is_empty => None,
            Ok(()) => Some(Ok(Matrices::in_stream_of(device, &operands, c, &epilogue))),
            Err(error) => Some(Err(error)),
        }
    };
    products.into_iter().filter_map(of).collect()
}

/// Computes products one after another.
fn run_each<T: Computes<O, S>, O: Element, S: EpilogueScalar>(
    device: &Device,
    arithmetic: Arithmetic,
    products: Vec<Matrices<'_, T, O, S>>,
) -> Outcome<()> {
    products.into_iter().try_for_each(|matrices| {
        let request = Request::Fastest(arithmetic, None);
        let plan = device.recent_plan(request, &matrices.problem(T::TYPES))?;
        T::execute(&plan, matrices)
    })
}

/// Computes products in one launch for each pair of orders, except those with a launch of their own.
fn run_together<T: Computes<T, S>, S: EpilogueScalar>(
    device: &Device,
    arithmetic: Arithmetic,
    products: Vec<Matrices<'_, T, T, S>>,
) -> Outcome<()> {
    let mut groups: [Vec<Grouped<'_, T, S>>; 4] = Default::default();
    for matrices in products {
        let problem = matrices.problem(T::TYPES);
        let alone = device.plan(Request::Fastest(arithmetic, None), &problem)?;
        // Products of split operands share no launch, nor do exact ones.
        let is_alone_always = matches!(arithmetic, Arithmetic::Split | Arithmetic::Exact);
        if is_alone_always || is_alone(&problem, device.facts(), &alone) {
            T::execute(&alone, matrices)?;
        } else if !fit_group(&matrices) {
            // The bits are those of the shared launch.
            let arithmetic = match problem.element.is_half() {
                true => arithmetic,
                false => Arithmetic::Chain,
            };
            run_each(device, arithmetic, vec![matrices])?;
        } else {
            let number = 2 * problem.a.order as usize + problem.b.order as usize;
            groups[number].push(Grouped { matrices, problem });
        }
    }
    for group in groups.into_iter().filter(|group| !group.is_empty()) {
        let problems: Vec<&Problem> = group.iter().map(|it| &it.problem).collect();
        let kernel = select_in_group(&problems, device.facts()).ok_or_else(|| {
            let request = Request::Grouped(TileSize::Small);
            device.no_plan(request, problems[0])
        })?;
        grouped::multiply(device, kernel, group)?;
    }
    Ok(())
}

impl Device {
    /// The plan for the problem, by the kernels of `request`.
    pub(super) fn plan(&self, request: Request, problem: &Problem) -> Outcome<Plan> {
        let plan = Plan::of(problem, self.facts(), request);
        plan.ok_or_else(|| self.no_plan(request, problem))
    }

    /// [`plan`](Self::plan), but cheap for a recent one.
    fn recent_plan(&self, request: Request, problem: &Problem) -> Outcome<Rc<Plan>> {
        let plan = Plan::remembered(problem, self.facts(), request);
        plan.ok_or_else(|| self.no_plan(request, problem))
    }

    /// Why there is no plan: no kernel computes the problem, or the driver is too old for the one that does.
    #[cold]
    fn no_plan(&self, request: Request, problem: &Problem) -> ErrorKind {
        let facts = self.facts();
        let with_newer_driver = DeviceFacts {
            driver: None,
            ..facts
        };
        let plan = Plan::of(problem, with_newer_driver, request);
        let needed = plan.and_then(|it| it.kernel.driver);
        if let (Some(found), Some(needed)) = (facts.driver, needed) {
            return ErrorKind::DriverTooOld { found, needed };
        }
        ErrorKind::NoKernel {
            problem: problem.to_string(),
            device: self.label(),
            reason: obstacle(problem, facts, request),
        }
    }

    /// The facts that a plan depends on.
    pub(super) fn facts(&self) -> DeviceFacts {
        let properties = self.properties();
        DeviceFacts {
            multiprocessors: properties.multiprocessors,
            compute_capability: properties.compute_capability,
            limit: None,
            driver: properties.driver,
            warp_threads: properties.warp_threads,
        }
    }
}

impl Request {
    /// The request for a product with this epilogue: if A and B are not read, every arithmetic has the same outputs.
    fn for_epilogue<S: EpilogueScalar>(self, epilogue: &Epilogue<'_, S>) -> Self {
        self.map_arithmetic(|it| epilogue.arithmetic(it))
    }
}
