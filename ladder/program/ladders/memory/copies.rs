//! The section on copies between host and device.

use super::super::case::{Case, Scale};
use super::work::{Work, bytes, indices};
use crate::support::Outcome;
use tilewright::{Buffer, Device, Element, PinnedBuffer};

/// Pageable or page-locked host memory.
enum Host<T: Element> {
    Pageable(Vec<T>),
    Pinned(PinnedBuffer<T>),
}

impl<T: Element> Host<T> {
    fn elements(&mut self) -> &mut [T] {
        match self {
            Self::Pageable(elements) => elements,
            Self::Pinned(elements) => elements,
        }
    }
}

struct Copies {
    host: Host<f32>,
    there: Buffer<f32>,
}

pub fn copies() -> Vec<Case> {
    let mut cases = Vec::new();
    for (is_pinned, kind) in [(false, "pageable"), (true, "pinned")] {
        for (is_upload, direction) in [(true, "to the device"), (false, "to the host")] {
            let prepare = move |device: &Device, scale: Scale| {
                copy(device, scale.pick(1 << 26, 1 << 14), is_pinned, is_upload)
            };
            let change = match is_pinned {
                true => "the system keeps the memory in place: the device copies by itself",
                false => "the driver copies through its own buffer",
            };
            cases.push(Case::new(format!("{kind}, {direction}"), change, prepare).uncounted());
        }
    }
    cases
}

fn copy(
    device: &Device,
    elements: usize,
    is_pinned: bool,
    is_upload: bool,
) -> Outcome<Work<Copies>> {
    let mut host = match is_pinned {
        true => Host::Pinned(device.pinned(elements)?),
        false => Host::Pageable(vec![0.0; elements]),
    };
    let data = indices(elements);
    let there = match is_upload {
        true => device.zeros(elements)?,
        false => device.upload(&data)?,
    };
    if is_upload {
        host.elements().copy_from_slice(&data);
    }
    Ok(Work {
        work: bytes::<f32>(elements),
        state: Copies { host, there },
        launch: match is_upload {
            true => |it| it.there.copy_from_slice(it.host.elements()),
            false => |it| it.there.copy_to_slice(it.host.elements()),
        },
        // Both sides have the elements that one had before.
        check: |it| {
            let data = indices(it.there.len());
            let is_right = it.host.elements() == data && it.there.to_vec()? == data;
            is_right.then_some(()).ok_or("the copy differs".into())
        },
    })
}
