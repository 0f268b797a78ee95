//! The last plans of a thread. A plan is a function of values, so equal products share one.

use super::problem::{DeviceFacts, Problem};
use super::{Plan, Request};
use std::cell::RefCell;
use std::rc::Rc;

/// The places for plans. The shape selects the place: programs repeat a few shapes.
const PLACES: usize = 16;

/// A plan, and all that it depends on.
struct Remembered {
    problem: Problem,
    device: DeviceFacts,
    request: Request,
    plan: Rc<Plan>,
}

thread_local! {
    static PLANS: RefCell<[Option<Remembered>; PLACES]> =
        const { RefCell::new([const { None }; PLACES]) };
}

impl Plan {
    /// [`Plan::of`], without the work if a recent call of this thread had the same arguments.
    pub fn remembered(
        problem: &Problem,
        device: DeviceFacts,
        request: Request,
    ) -> Option<Rc<Self>> {
        let new = || Self::of(problem, device, request).map(Rc::new);
        let found = PLANS.try_with(|plans| {
            let place = &mut plans.borrow_mut()[place_of(problem)];
            if let Some(known) = place
                && known.problem == *problem
                && known.request == request
                && known.device == device
            {
                return Some(Rc::clone(&known.plan));
            }
            let plan = new()?;
            *place = Some(Remembered {
                problem: *problem,
                device,
                request,
                plan: Rc::clone(&plan),
            });
            Some(plan)
        });
        // The thread is ending, and has dropped its plans.
        found.unwrap_or_else(|_| new())
    }
}

fn place_of(problem: &Problem) -> usize {
    // Multiplicative hashing: the upper bits of a product with 2^64 divided by the golden ratio.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let lengths = [problem.m, problem.n, problem.k].map(|it| it as u64);
    let mixed = lengths
        .into_iter()
        .fold(problem.element as u64, |mixed, length| {
            (mixed ^ length).wrapping_mul(FACTOR)
        });
    (mixed >> (u64::BITS - PLACES.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::ALIGNMENT;
    use crate::matmul::arithmetic::Arithmetic;
    use crate::matmul::types::ElementType;
    use crate::matrix::Order;

    const H200: DeviceFacts = DeviceFacts {
        multiprocessors: 132,
        compute_capability: Some((9, 0)),
        limit: None,
        driver: None,
        warp_threads: 32,
    };
    const FASTEST: Request = Request::Fastest(Arithmetic::Auto, None);

    fn square(side: usize) -> Problem {
        let types = (ElementType::F32, ElementType::F32);
        let orders = [Order::RowMajor; 2];
        Problem::packed(types, (side, side, side), orders, ALIGNMENT)
    }

    fn kernel(problem: &Problem, device: DeviceFacts, request: Request) -> &'static str {
        let plan = Plan::remembered(problem, device, request).unwrap();
        plan.kernel.name
    }

    #[test]
    fn a_plan_is_remembered_for_equal_arguments_alone() {
        let problem = square(1024);
        let plan = Plan::remembered(&problem, H200, FASTEST).unwrap();
        let again = Plan::remembered(&problem, H200, FASTEST).unwrap();
        assert!(Rc::ptr_eq(&plan, &again));
        // These share the place of the plan above, but each has its own kernel.
        let chain = Request::Fastest(Arithmetic::Chain, None);
        let older = DeviceFacts {
            compute_capability: Some((8, 0)),
            ..H200
        };
        let by_columns = Problem {
            b: square(1024).b.transposed(),
            ..problem
        };
        let all = [
            (problem, H200, FASTEST),
            (problem, H200, chain),
            (problem, older, FASTEST),
            (by_columns, H200, chain),
        ];
        for (problem, device, request) in all.iter().chain(&all) {
            let planned = Plan::of(problem, *device, *request).unwrap();
            assert_eq!(kernel(problem, *device, *request), planned.kernel.name);
        }
        let kernels = all.map(|(problem, device, request)| kernel(&problem, device, request));
        for (number, one) in kernels.iter().enumerate() {
            assert!(!kernels[number + 1..].contains(one), "{kernels:?}");
        }
    }

    #[test]
    fn squares_of_powers_of_two_have_several_places() {
        let places =
            [64, 128, 256, 512, 1024, 2048, 4096, 8192].map(|side| place_of(&square(side)));
        let distinct = std::collections::BTreeSet::from(places);
        assert!(distinct.len() >= 4, "{places:?}");
    }
}
