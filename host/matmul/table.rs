//! The table of product kernels, indexed by method and types, because each call looks up several kernels.

use super::entry::{Entry, Launch, Launcher};
use super::kernel::{ElementType, GemmKernel, Method};
use super::kernels::{KERNELS, LAUNCHERS};
use std::marker::PhantomData;

const TYPES: usize = ElementType::F8E5M2 as usize + 1;

/// The range in the table of the kernels of a method, an element type and an output type: the first, and the one
/// after the last.
type Index = [[[(u16, u16); TYPES]; TYPES]; Method::COUNT];

static INDEX: Index = index(KERNELS);

/// The kernels of a method with these types. They differ in the orders and the alignment of the operands.
pub fn kernels_of(
    method: Method,
    element: ElementType,
    output: ElementType,
) -> &'static [GemmKernel] {
    let (first, end) = INDEX[method.number()][element as usize][output as usize];
    &KERNELS[usize::from(first)..usize::from(end)]
}

impl Entry {
    /// The function that launches the kernel, which was selected for the types of `F`.
    pub fn launch<F: Launch>(self) -> F {
        let launcher = LaunchersOf::<F>::ALL[usize::from(self.0)];
        launcher
            .and_then(|it| it.launch())
            .expect("the kernel was selected for the types")
    }
}

/// The launchers of one type.
struct LaunchersOf<F>(PhantomData<F>);

impl<F: Launch> LaunchersOf<F> {
    /// Each at the place of its kernel.
    const ALL: &'static [Option<Launcher>] = &Self::all::<{ LAUNCHERS.len() }>();

    const fn all<const COUNT: usize>() -> [Option<Launcher>; COUNT] {
        let mut all = [None; COUNT];
        let mut at = 0;
        while at < COUNT {
            if LAUNCHERS[at].launch::<F>().is_some() {
                all[at] = Some(LAUNCHERS[at]);
            }
            at += 1;
        }
        all
    }
}

const fn index(kernels: &[GemmKernel]) -> Index {
    let mut index = [[[(0, 0); TYPES]; TYPES]; Method::COUNT];
    let mut at = 0;
    while at < kernels.len() {
        let kernel = &kernels[at];
        let of_types = &mut index[kernel.method.number()][kernel.element as usize];
        let (first, end) = &mut of_types[kernel.output as usize];
        if *end == 0 {
            *first = at as u16;
        } else {
            assert!(
                *end as usize == at,
                "kernels of one method and the same types stand together in the table"
            );
        }
        at += 1;
        *end = at as u16;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_found_by_its_method_and_types_alone() {
        let mut found = 0;
        for kernel in KERNELS {
            let group = kernels_of(kernel.method, kernel.element, kernel.output);
            assert!(
                group.iter().any(|it| it.name == kernel.name),
                "{}",
                kernel.name
            );
            let key = |it: &GemmKernel| (it.method, it.element, it.output);
            assert!(
                group.iter().all(|it| key(it) == key(kernel)),
                "{}",
                kernel.name
            );
            found += usize::from(group[0].name == kernel.name) * group.len();
        }
        assert_eq!(found, KERNELS.len());
        assert!(kernels_of(Method::Tiled, ElementType::I8, ElementType::I32).is_empty());
    }
}
