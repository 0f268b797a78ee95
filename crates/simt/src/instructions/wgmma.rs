//! Products of warpgroups: `wgmma` of the PTX ISA (section "Asynchronous Warpgroup Level Matrix
//! Instructions").
//!
//! Four warps issue a product together, and any of them waits for all of it. Its operands are read,
//! and its accumulators change, at some moment between the issue by the last warp and the wait.

use crate::basics::DefectKind;
use crate::block::{Block, Thread, Wait};
use crate::check::{Agent, Extent};
use crate::current::instruction;
use crate::state::{
    Descriptor, ElementType, MAX_SHARED_BYTES, Major, Operand, Product, WARPS, Wgmma,
};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::panic::Location;

/// Rows of a product.
const M: usize = 64;

/// `wgmma.fence`: the accumulators of the running thread pass to the tensor cores, where they are
/// not there yet. Until [`wgmma_collect`], `registers` has no values.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn wgmma_begin(registers: &mut [u32]) {
    let site = Location::caller();
    instruction(site, |thread, block| {
        if block.is_unwinding(thread) {
            return;
        }
        block.warpgroup_of(thread, "wgmma", site);
        thread.fragments.borrow_mut().hand_over(registers);
        block.meet_warp(thread, "wgmma.fence", 0, site);
    });
}

/// Issues a product of the running thread's warpgroup: D = A B + D, or D = A B where not
/// `accumulate`. `registers` are the running thread's part of D, as [`wgmma_begin`] has left them.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn wgmma(registers: &mut [u32], instruction: Wgmma, a: Operand, b: Operand, accumulate: bool) {
    let site = Location::caller();
    crate::current::instruction(site, |thread, block| {
        if block.is_unwinding(thread) {
            return;
        }
        let group = block.warpgroup_of(thread, "wgmma", site);
        block.check_instruction(thread, &instruction, registers.len(), site);
        if thread.fragments.borrow_mut().find(registers).is_none() {
            let message = "the accumulators of a product are not with the tensor cores: \
                           wgmma.fence comes before the first product of them"
                .to_owned();
            block.fail(thread, DefectKind::InvalidArgument, message, site);
        }
        let product = Product::new(instruction, (a, b), accumulate, site);
        let mut hasher = DefaultHasher::new();
        (instruction, a, b, accumulate, registers[0]).hash(&mut hasher);
        if block.meet_warp(thread, "wgmma", hasher.finish(), site) {
            block.issue_product(thread, (group, registers[0]), product);
        }
    });
}

/// Makes one group of the products that the running warp has issued since its last commit.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn wgmma_commit() {
    let site = Location::caller();
    instruction(site, |thread, block| {
        if block.is_unwinding(thread) {
            return;
        }
        let group = block.warpgroup_of(thread, "wgmma", site);
        if block.meet_warp(thread, "wgmma.commit_group", 0, site) {
            let warp = thread.position.warp as usize % WARPS;
            block.products[group].commit(warp);
        }
    });
}

/// Waits until at most `pending` of the running warp's youngest groups of products are not complete.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn wgmma_wait(pending: u32) {
    let site = Location::caller();
    instruction(site, |thread, block| {
        if block.is_unwinding(thread) {
            return;
        }
        let group = block.warpgroup_of(thread, "wgmma", site);
        block.meet_warp(thread, "wgmma.wait_group", pending.into(), site);
        let warp = thread.position.warp as usize % WARPS;
        let queue = &block.products[group];
        let needed = queue.needed(warp, pending as usize);
        while !queue.are_issued(needed) {
            thread.wait_for(Wait::Products, site);
        }
        block.perform_products(group, needed, usize::MAX);
        if let Some(times) = queue.complete(warp, needed) {
            block.acquire_products(thread, times);
        }
    });
}

/// The accumulators of the running thread come back, after a wait for all groups that add to them.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn wgmma_collect(registers: &mut [u32]) {
    let site = Location::caller();
    instruction(site, |thread, block| {
        if block.is_unwinding(thread) {
            return;
        }
        let group = block.warpgroup_of(thread, "wgmma", site);
        let mut fragments = thread.fragments.borrow_mut();
        let needed = fragments.find(registers).map(|fragment| fragment.needs);
        let warp = thread.position.warp as usize % WARPS;
        let message = match needed {
            None => "the accumulators are not with the tensor cores: there is nothing to collect",
            Some(needed) if !block.products[group].is_complete(warp, needed) => {
                "the accumulators are collected before the wait for a product that adds to them"
            }
            Some(_) => return fragments.collect(registers),
        };
        drop(fragments);
        block.fail(thread, DefectKind::AsyncHazard, message.to_owned(), site);
    });
}

impl Block {
    /// Performs up to `most` products of a warpgroup before number `needed`.
    pub(super) fn perform_products(&self, group: usize, needed: u64, most: usize) {
        let first = self.first_thread_of_warp(group * WARPS);
        for _ in 0..most {
            let Some(product) = self.products[group].next(needed) else {
                return;
            };
            let accumulators = |thread: usize, action: &mut dyn FnMut(&mut [u32])| {
                let mut fragments = self.threads[first + thread].fragments.borrow_mut();
                let mark = product.fragments[thread / 32];
                if let Some(fragment) = fragments.numbered(mark) {
                    action(&mut fragment.values);
                }
            };
            // SAFETY: (1) the issue has checked that the operands are in shared memory.
            unsafe { product.perform(self.shared.start_pointer(), accumulators) };
        }
    }

    fn check_instruction(
        &self,
        thread: &Thread,
        instruction: &Wgmma,
        registers: usize,
        site: &'static Location<'static>,
    ) {
        let Wgmma { a, b, n, .. } = *instruction;
        let is_wide = |element: ElementType| element.bytes() != 2;
        let is_transposed = instruction.a_major == Major::MN || instruction.b_major == Major::MN;
        let message = if !a.fits(b) {
            format!("wgmma of {a:?} and {b:?}: there is no such instruction")
        } else if n == 0 || n > 256 || !n.is_multiple_of(8) {
            format!("wgmma of {n} columns: they can be 8 to 256, in steps of 8")
        } else if registers != n as usize / 2 {
            format!(
                "wgmma of {n} columns with {registers} accumulators in each thread: it has {}",
                n / 2
            )
        } else if is_transposed && is_wide(a) {
            format!("wgmma of {a:?} whose operands do not lie along k: types of 16 bits alone can")
        } else {
            return;
        };
        self.fail(thread, DefectKind::InvalidArgument, message, site);
    }

    /// The last lane of a warp issues a product.
    fn issue_product(&self, thread: &Thread, (group, mark): (usize, u32), product: Product) {
        let site = product.site;
        let Wgmma {
            a,
            b,
            n,
            a_major,
            b_major,
        } = product.instruction;
        self.check_operand(thread, "A", (&product.a, a, a_major), M, site);
        self.check_operand(thread, "B", (&product.b, b, b_major), n as usize, site);
        let warp = thread.position.warp as usize;
        let queue = &self.products[group];
        let moment = self.note_product(thread, &product);
        let number = match queue.issue(warp % WARPS, mark, moment, product) {
            Ok(number) => number,
            Err(other) => self.fail_warps(thread, site, other),
        };
        let first = self.first_thread_of_warp(warp);
        for lane in &self.threads[first..first + 32] {
            if let Some(fragment) = lane.fragments.borrow_mut().numbered(mark) {
                fragment.needs = number + 1;
            }
        }
        self.may_be_in_flight.set(true);
        if queue.are_issued(number + 1) {
            let first = self.first_thread_of_warp(group * WARPS);
            for lane in &self.threads[first..first + 32 * WARPS] {
                if lane.wait.get() == Wait::Products {
                    self.release_thread(lane.position.thread());
                }
            }
        }
    }

    /// A warp has waited for products, which its warps have issued up to these times.
    fn acquire_products(&self, thread: &Thread, times: [u32; WARPS]) {
        let Some(check) = self.active_check() else {
            return;
        };
        let first = thread.position.warp / WARPS as u32 * WARPS as u32;
        let agents = || (first..).map(Agent::Products).zip(times);
        let lanes = self.first_thread_of_warp(thread.position.warp as usize) as u32;
        for lane in lanes..lanes + 32 {
            check.acquire_agents(lane, agents());
        }
    }

    /// The last lane of a warp issues a product: the checks see what it reads. Returns when.
    fn note_product(&self, thread: &Thread, product: &Product) -> u32 {
        let Some(check) = self.active_check() else {
            return 0;
        };
        let issue = check.issue(&thread.position, product.site);
        let moment = check.moment();
        let Wgmma {
            a,
            b,
            n,
            a_major,
            b_major,
        } = product.instruction;
        let rows = thread.position.warp as usize % WARPS * 16;
        let operands = [
            (&product.a, a, a_major, rows..rows + 16),
            (&product.b, b, b_major, 0..n as usize),
        ];
        for (operand, element, major, rows) in operands {
            let descriptor = Descriptor::of(operand.descriptor);
            let mut chunks = descriptor.chunks(major, element.bytes(), rows, element.k());
            let agent = (Agent::Products(thread.position.warp), moment);
            let extent = |start| Extent { start, bytes: 16 };
            let result = chunks
                .try_for_each(|chunk| check.begin_read(&issue, &self.shared, extent(chunk), agent));
            self.end_on(thread, result);
            let first = extent(descriptor.place(major, element.bytes(), 0, 0));
            self.end_on(
                thread,
                check.check_layout(&issue, first, descriptor.swizzle),
            );
        }
        moment
    }

    /// Ends the launch unless an operand is where its descriptor may name it.
    fn check_operand(
        &self,
        thread: &Thread,
        name: &str,
        (operand, element, major): (&Operand, ElementType, Major),
        count: usize,
        site: &'static Location<'static>,
    ) {
        let descriptor = Descriptor::of(operand.descriptor);
        let tile = self.tile_of(thread, operand.tile, operand.bytes, site);
        let period = descriptor.swizzle.period();
        if !tile.is_multiple_of(period) || descriptor.base != 0 {
            let message = format!(
                "the tile of {name} is at byte {tile} of shared memory: with {}, it must be at a \
                 multiple of {period}",
                descriptor.swizzle
            );
            self.fail(thread, DefectKind::Misaligned, message, site);
        }
        let end = (tile + operand.bytes).min(MAX_SHARED_BYTES);
        let mut chunks = descriptor.chunks(major, element.bytes(), 0..count, element.k());
        if let Some(outside) = chunks.find(|chunk| *chunk < tile || chunk + 16 > end) {
            let message = format!(
                "the descriptor of {name} names byte {outside} of shared memory, outside of its \
                 tile, which has bytes {tile} to {end}"
            );
            self.fail(thread, DefectKind::OutOfBounds, message, site);
        }
    }

    #[cold]
    fn fail_warps(
        &self,
        thread: &Thread,
        site: &'static Location<'static>,
        other: &'static Location<'static>,
    ) -> ! {
        let message = format!(
            "the warps of a warpgroup issue different products: another one has issued that of \
             {other}"
        );
        self.fail(thread, DefectKind::WarpDivergence, message, site)
    }
}
