//! Products of warpgroups: issue, checks and counters.

use crate::basics::{CallSite, DefectKind};
use crate::block::{Block, Thread, Wait};
use crate::check::{Agent, Extent};
use crate::count::{Operation, Tally};
use crate::state::{
    Descriptor, ElementType, MAX_SHARED_BYTES, Major, Operand, Product, Rows, WARPS, Wgmma,
};

/// Rows of a product.
const M: usize = 64;

impl Block {
    /// Performs up to `most` products of a warpgroup, all with numbers below `needed`.
    pub(super) fn perform_products(&self, group: usize, needed: u64, most: usize) {
        let first = self.first_thread_of_warp(group * WARPS);
        for _ in 0..most {
            let Some(product) = self.products[group].next(needed) else {
                return;
            };
            let accumulators = |thread: usize, action: &mut dyn FnMut(&mut [u32])| {
                let mut fragments = self.threads[first + thread].machine.fragments.borrow_mut();
                let mark = product.fragments[thread / 32];
                if let Some(fragment) = fragments.numbered(mark) {
                    action(&mut fragment.values);
                }
            };
            // SAFETY: the operands are in shared memory, which was checked at the issue.
            unsafe { product.perform(self.shared.start_pointer(), accumulators) };
        }
    }

    pub(super) fn check_instruction(
        &self,
        thread: &Thread,
        instruction: &Wgmma,
        registers: usize,
        site: CallSite,
    ) {
        let Wgmma { a, b, n, .. } = *instruction;
        let is_wide = |element: ElementType| element.bytes() != 2;
        let is_transposed = instruction.a_major == Major::MN || instruction.b_major == Major::MN;
        let message = if !a.fits(b) {
            format!("wgmma of {a:?} and {b:?}: there is no such instruction")
        } else if n == 0 || n > 256 || !n.is_multiple_of(8) {
            format!("wgmma of {n} columns: they can be 8 to 256, in steps of 8")
        } else if matches!(a, ElementType::S8 | ElementType::U8) && n > 32 && !n.is_multiple_of(16)
        {
            format!("wgmma of {n} columns of integers: beyond 32 they are in steps of 16")
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

    /// The rows of A that the lanes of a warp have in registers.
    pub(super) fn rows_of_warp(&self, thread: &Thread) -> Rows {
        let warp = thread.position.warp as usize;
        let first = self.first_thread_of_warp(warp);
        let lanes = self.threads[first..first + 32].iter();
        Rows::of_warp(
            warp % WARPS,
            lanes.map(|lane| lane.machine.a_registers.get()),
        )
    }

    /// Issues a product; called for the last lane of a warp to arrive.
    pub(super) fn issue_product(
        &self,
        thread: &Thread,
        (group, mark): (usize, u32),
        product: Product,
    ) {
        let site = product.site;
        let it = product.instruction;
        if product.a_rows.is_none() {
            self.check_operand(thread, "A", (&product.a, it.a, it.a_major), M, site);
        }
        self.check_operand(
            thread,
            "B",
            (&product.b, it.b, it.b_major),
            it.n as usize,
            site,
        );
        let warp = thread.position.warp as usize;
        let queue = &self.products[group];
        let moment = self.note_product(thread, &product);
        self.count_product(thread, &product);
        let number = match queue.issue(warp % WARPS, mark, moment, product) {
            Ok(number) => number,
            Err(other) => self.fail_warps(thread, site, other),
        };
        let first = self.first_thread_of_warp(warp);
        for lane in &self.threads[first..first + 32] {
            if let Some(fragment) = lane.machine.fragments.borrow_mut().numbered(mark) {
                fragment.needs = number + 1;
            }
        }
        self.note_in_flight();
        if queue.are_issued(number + 1) {
            let first = self.first_thread_of_warp(group * WARPS);
            for lane in &self.threads[first..first + 32 * WARPS] {
                if lane.wait.get() == Wait::Products {
                    self.release_thread(lane.position.thread());
                }
            }
        }
    }

    fn count_product(&self, thread: &Thread, product: &Product) {
        let mut tally = Tally {
            lanes: 32,
            ..Tally::default()
        };
        let Wgmma { a, n, .. } = product.instruction;
        let of_warp = M / WARPS * n as usize * a.k();
        let operations = 2 * of_warp as u32;
        tally.tensor_operations = operations.into();
        let operation = Operation::TensorProduct { operations };
        self.note_request(thread, operation, product.site, tally, &[]);
    }

    /// Orders the products that the warps have issued up to these times before the warp of
    /// `thread`, which has waited for them.
    pub(super) fn acquire_products(&self, thread: &Thread, times: [u32; WARPS]) {
        let Some(check) = self.active_check() else {
            return;
        };
        let first = thread.position.warp / WARPS as u32 * WARPS as u32;
        let agents = (first..).map(Agent::Products).zip(times);
        let lanes = self.first_thread_of_warp(thread.position.warp as usize) as u32;
        check.acquire_agents(lanes..lanes + 32, agents);
    }

    /// Shows the checks the reads of a product that a warp issues; returns the moment of the issue.
    fn note_product(&self, thread: &Thread, product: &Product) -> u32 {
        let Some(check) = self.active_check() else {
            return 0;
        };
        let issue = check.issue(&thread.position, product.site);
        let moment = check.moment();
        let it = product.instruction;
        let rows = thread.position.warp as usize % WARPS * 16;
        let operands = [
            (&product.a, it.a, it.a_major, rows..rows + 16),
            (&product.b, it.b, it.b_major, 0..it.n as usize),
        ];
        let in_memory = operands
            .into_iter()
            .skip(usize::from(product.a_rows.is_some()));
        for (operand, element, major, rows) in in_memory {
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

    /// Ends the launch unless the operand lies where a descriptor may place it.
    fn check_operand(
        &self,
        thread: &Thread,
        name: &str,
        (operand, element, major): (&Operand, ElementType, Major),
        count: usize,
        site: CallSite,
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
    fn fail_warps(&self, thread: &Thread, site: CallSite, other: CallSite) -> ! {
        let message = format!(
            "the warps of a warpgroup issue different products: another one has issued that of \
             {other}"
        );
        self.fail(thread, DefectKind::WarpDivergence, message, site)
    }
}
