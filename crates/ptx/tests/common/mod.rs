//! Launches of checked-in PTX and of the same kernels as Rust, on memory of the same contents.

#![allow(dead_code, reason = "no test file uses all of it")]

mod text;

pub use text::text;

use cuda_std::Pod;
use ptx::{Kernel, Module, Program};
use simt::{Body, Contents, Defect, Launch, Options, Report};
use std::ptr::with_exposed_provenance_mut;

/// The module of a kernel's PTX.
pub fn module(name: &str, arch: &str) -> Module {
    let text = text(name, arch).unwrap();
    text.parse().unwrap_or_else(|it| panic!("{name}: {it}"))
}

/// The kernel of a checked-in module.
pub fn kernel(name: &str, arch: &str) -> Kernel {
    let program = Program::new(&module(name, arch), name);
    Kernel::new(program.unwrap_or_else(|it| panic!("{it}"))).unwrap()
}

/// Elements in global memory of the simulator.
pub struct Buffer<T> {
    address: usize,
    length: usize,
    lines: Vec<[u128; 16]>,
    elements: std::marker::PhantomData<fn() -> T>,
}

impl<T: Pod> Buffer<T> {
    pub fn new(values: &[T]) -> Self {
        Self::with(values.len(), values, Contents::Initialised)
    }

    pub fn uninitialised(length: usize) -> Self {
        Self::with(length, &[], Contents::Uninitialised)
    }

    fn with(length: usize, values: &[T], contents: Contents) -> Self {
        let bytes = length * size_of::<T>();
        let mut lines = vec![[u128::MAX; 16]; bytes.div_ceil(256) + 1];
        let address = lines.as_mut_ptr().expose_provenance();
        for (index, value) in values.iter().enumerate() {
            // SAFETY: the lines have room for `length` elements, and are aligned to 16 bytes.
            unsafe {
                with_exposed_provenance_mut::<T>(address)
                    .add(index)
                    .write(*value)
            };
        }
        // SAFETY: the memory lives until `drop`, which forgets it first. Launches alone access it meanwhile.
        unsafe { simt::register_allocation(address, bytes.max(1), contents).unwrap() };
        Self {
            address,
            length,
            lines,
            elements: std::marker::PhantomData,
        }
    }

    pub fn pointer(&self) -> *mut T {
        with_exposed_provenance_mut(self.address)
    }

    pub fn length(&self) -> usize {
        self.length
    }

    pub fn values(&self) -> Vec<T> {
        // SAFETY: the memory has the elements, and no launch is under way.
        (0..self.length)
            .map(|it| unsafe { self.pointer().add(it).read() })
            .collect()
    }

    /// The two parameters of a view.
    pub fn view(&self) -> [[u8; 8]; 2] {
        [self.address.to_ne_bytes(), self.length.to_ne_bytes()]
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        let bytes = self.length * size_of::<T>();
        simt::forget_allocation(self.address, bytes.max(1));
    }
}

/// A kernel whose thread stores `%result`, after `body`, which may use `%t`, the thread's number.
pub fn storing_kernel(body: &str) -> String {
    format!(
        ".visible .entry test(.param .u64 out)
        {{
            .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>;
            .reg .b32 %result; .reg .b32 %t; .reg .b64 %address; .reg .b64 %distance;
            mov.u32 %t, %tid.x;
            {body}
            ld.param.u64 %address, [out];
            cvta.to.global.u64 %address, %address;
            mul.wide.u32 %distance, %t, 4;
            add.s64 %address, %address, %distance;
            st.global.u32 [%address], %result;
            ret;
        }}"
    )
}

/// The options of all launches here: memory that is not registered is a defect.
pub fn options() -> Options {
    Options {
        registered_memory_only: true,
        ..Options::default()
    }
}

/// A launch's grid, block and dynamic shared memory.
#[derive(Clone, Copy)]
pub struct Shape {
    pub grid: u32,
    pub block: u32,
    pub dynamic_shared_bytes: usize,
}

pub fn run(
    name: &str,
    shape: Shape,
    options: &Options,
    body: &Body,
) -> Result<Report, Box<Defect>> {
    let launch = Launch {
        dynamic_shared_bytes: shape.dynamic_shared_bytes,
        ..Launch::new(name, shape.grid, shape.block, options)
    };
    simt::run(&launch, body)
}

/// The body of a kernel as PTX.
pub fn ptx_body(kernel: &Kernel, arguments: &[&[u8]]) -> Body {
    // SAFETY: launches here refuse memory that is not registered, and buffers outlive them.
    unsafe { kernel.body(arguments) }.unwrap()
}

/// The body of a kernel as Rust.
pub fn rust_body(body: impl Fn() + Send + Sync) -> Body {
    // SAFETY: the callers drop the result before what it borrows, and no kernel starts a host thread.
    unsafe { Body::borrowing(body) }
}
