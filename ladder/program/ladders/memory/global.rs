//! Sections on global memory: static arrays, and patterns of loads.

use super::super::case::{Case, Scale};
use super::work::{Copied, Work, bytes, compare, indices};
use tilewright::{Buffer, Device};
use tilewright_ladder::memory::{self, Caches, MISALIGNMENT, Pattern, STATIC_ELEMENTS};

struct Sums {
    device: Device,
    /// `None` if the arrays are the module's.
    buffers: Option<(Buffer<f32>, Buffer<f32>)>,
}

pub fn statics() -> Vec<Case> {
    let prepare = |is_static: bool| {
        move |device: &Device, _scale: Scale| {
            let (u, v) = (indices(STATIC_ELEMENTS), vec![1.0; STATIC_ELEMENTS]);
            let buffers = match is_static {
                true => {
                    memory::write_static(device, &u, &v)?;
                    None
                }
                false => Some((device.upload(&u)?, device.upload(&v)?)),
            };
            Ok(Work {
                work: 3.0 * bytes::<f32>(STATIC_ELEMENTS),
                state: Sums {
                    device: device.clone(),
                    buffers,
                },
                launch: |it| match &mut it.buffers {
                    Some((u, v)) => memory::add_buffers(&it.device, u, v),
                    None => memory::add_static(&it.device),
                },
                check: |it| {
                    let sums = match &it.buffers {
                        Some((u, _)) => u.to_vec()?,
                        None => memory::read_static(&it.device)?,
                    };
                    compare(&sums, (0..STATIC_ELEMENTS).map(|i| (i, i as f32 + 1.0)))
                },
            })
        }
    };
    vec![
        Case::new("buffers", "`u` and `v` are parameters", prepare(false)),
        Case::new(
            "static arrays",
            "`u` and `v` are the module's, by name",
            prepare(true),
        ),
    ]
}

pub fn patterns() -> Vec<Case> {
    let mut cases = Vec::new();
    for pattern in Pattern::ALL {
        for caches in Caches::ALL {
            let prepare = move |device: &Device, scale: Scale| {
                let elements = scale.pick(1 << 26, 1 << 14);
                Ok(Work {
                    work: 2.0 * bytes::<f32>(elements),
                    state: Copied {
                        device: device.clone(),
                        kind: (pattern, caches),
                        x: device.upload(&indices(elements + MISALIGNMENT))?,
                        y: device.zeros(elements)?,
                    },
                    launch: |it| memory::load(&it.device, it.kind.0, it.kind.1, &it.x, &mut it.y),
                    check: |it| {
                        let x = indices(it.x.len());
                        let elements = it.y.len();
                        let value = |i| x[it.kind.0.place(i, elements)];
                        compare(&it.y.to_vec()?, (0..elements).map(|i| (i, value(i))))
                    },
                })
            };
            let name = format!("{}, {}", pattern.info().term, caches.info().term);
            cases.push(Case::new(name, pattern.info().change, prepare));
        }
    }
    cases
}
