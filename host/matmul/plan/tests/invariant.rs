//! Batch-invariant products: no kernel and no division that changes the order of sums with M, N or the batch.

use super::*;

const INVARIANT: Request = Request::Fastest(Arithmetic::BatchInvariant, None);
const AUTO: Request = Request::Fastest(Arithmetic::Auto, None);

/// M and N: vectors, short sides, small results, and some that fill the device.
const SHAPES: [(usize, usize); 8] = [
    (1, 1),
    (1, 4096),
    (4096, 1),
    (16, 2112),
    (64, 64),
    (128, 4096),
    (1536, 1536),
    (4096, 4096),
];

const LONG: usize = 8192;

/// Plans of each shape, alone and in a batch.
fn plans(element: ElementType, device: DeviceFacts, request: Request) -> Vec<Plan> {
    let each = SHAPES
        .into_iter()
        .flat_map(|it| [1, 40].map(|batch| (it, batch)));
    let plan = |((m, n), batch)| {
        let mut problem = problem(element, (m, n, LONG), Order::RowMajor, Order::ColumnMajor);
        (problem.output, problem.batch) = (element.of_sums(), batch);
        Plan::of(&problem, device, request).expect("a plan")
    };
    each.map(plan).collect()
}

#[test]
fn narrow_elements_stay_on_tensor_cores_with_all_of_k() {
    let halves = [ElementType::F16, ElementType::Bf16];
    let floats8 = [ElementType::F8E4M3, ElementType::F8E5M2];
    let on_hopper = halves.into_iter().chain(floats8).map(|it| (it, H200));
    for (element, device) in on_hopper.chain(halves.map(|it| (it, A100))) {
        for plan in plans(element, device, INVARIANT) {
            assert!(plan.division.is_none(), "{element}: {}", plan.kernel.name);
            assert_eq!(
                plan.kernel.method.units(),
                "tensor cores",
                "{}",
                plan.kernel.name
            );
        }
        let auto = plans(element, device, AUTO);
        assert!(auto.iter().any(|it| it.division.is_some()), "{element}");
    }
}

#[test]
fn wide_elements_are_chains() {
    for (element, device) in [H200, A100]
        .into_iter()
        .flat_map(|it| [ElementType::F32, ElementType::F64].map(|element| (element, it)))
    {
        let chains = plans(element, device, Request::Fastest(Arithmetic::Chain, None));
        for (plan, chain) in plans(element, device, INVARIANT).iter().zip(chains) {
            assert_eq!(plan.kernel.name, chain.kernel.name);
            assert!(plan.division.is_none());
        }
    }
}

#[test]
fn exact_sums_have_no_restriction() {
    for device in [H200, A100] {
        let auto = plans(ElementType::I8, device, AUTO);
        for (plan, auto) in plans(ElementType::I8, device, INVARIANT).iter().zip(auto) {
            assert_eq!(plan.kernel.name, auto.kernel.name);
            assert_eq!(parts_of(plan), parts_of(&auto));
        }
    }
}

#[test]
fn parts_of_a_product_and_limits_are_restricted_too() {
    let mut problem = row_major(ElementType::Bf16, (1, 64, LONG));
    problem.output = ElementType::F32;
    let requests = [
        Request::PartOf {
            m: 1,
            n: 128,
            arithmetic: Arithmetic::BatchInvariant,
        },
        Request::FastestAt((8, 0), Arithmetic::BatchInvariant, None),
    ];
    for request in requests {
        let plan = Plan::of(&problem, H200, request).expect("a plan");
        assert!(plan.division.is_none());
        assert_eq!(plan.kernel.method.units(), "tensor cores");
    }
}
