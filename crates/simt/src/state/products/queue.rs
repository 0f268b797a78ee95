//! The products of one warpgroup, in the order of issue.

use super::operand::{Operand, WARPS, Wgmma};
use super::rows::Rows;
use crate::basics::CallSite;
use std::cell::RefCell;
use std::collections::VecDeque;

/// One product of a warpgroup.
#[derive(Clone)]
pub(crate) struct Product {
    pub instruction: Wgmma,
    pub a: Operand,
    /// The rows of A that come from registers, instead of the operand.
    pub a_rows: Option<Rows>,
    pub b: Operand,
    pub accumulate: bool,
    /// The mark of the accumulators, warp by warp.
    pub fragments: [u32; WARPS],
    /// The warps that have issued it.
    issued: u8,
    /// The moment of each warp's issue, in the time of the block's checks.
    pub times: [u32; WARPS],
    pub site: CallSite,
    pub is_performed: bool,
}

impl Product {
    /// A product that one warp is about to issue.
    pub fn new(
        instruction: Wgmma,
        (a, b): (Operand, Operand),
        accumulate: bool,
        site: CallSite,
    ) -> Self {
        Self {
            instruction,
            a,
            a_rows: None,
            b,
            accumulate,
            fragments: [0; WARPS],
            issued: 0,
            times: [0; WARPS],
            site,
            is_performed: false,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let operation = |it: &Self| {
            (
                it.instruction,
                it.a,
                it.a_rows.is_some(),
                it.b,
                it.accumulate,
            )
        };
        operation(self) == operation(other)
    }

    fn is_issued(&self) -> bool {
        self.issued == (1 << WARPS) - 1
    }
}

/// The groups of one warp.
#[derive(Clone, Default)]
struct Groups {
    /// The number of products that the warp has issued.
    issued: u64,
    /// That number at each commit for which the warp has not waited.
    commits: VecDeque<u64>,
    /// The products below this number are complete, as far as the warp knows.
    complete: u64,
}

#[derive(Default)]
struct State {
    products: VecDeque<Product>,
    /// The number of the first product in the queue.
    first: u64,
    warps: [Groups; WARPS],
}

/// The products of one warpgroup.
#[derive(Default)]
pub(crate) struct ProductQueue {
    state: RefCell<State>,
}

impl ProductQueue {
    /// Forgets all products.
    pub fn clear(&mut self) {
        *self.state.get_mut() = State::default();
    }

    /// Issues a product for a warp; returns its number, or the line at which another warp has
    /// issued a different product in its place.
    pub fn issue(
        &self,
        warp: usize,
        fragment: u32,
        time: u32,
        product: Product,
    ) -> Result<u64, CallSite> {
        let state = &mut *self.state.borrow_mut();
        let number = state.warps[warp].issued;
        state.warps[warp].issued += 1;
        let place = (number - state.first) as usize;
        if place == state.products.len() {
            state.products.push_back(product.clone());
        }
        let queued = &mut state.products[place];
        queued.issued |= 1 << warp;
        if let (Some(all), Some(own)) = (&mut queued.a_rows, &product.a_rows) {
            all.take_warp(own, warp);
        }
        queued.fragments[warp] = fragment;
        queued.times[warp] = time;
        match queued.is_same(&product) {
            true => Ok(number),
            false => Err(queued.site),
        }
    }

    /// Makes a group of the warp's products since its last commit.
    pub fn commit(&self, warp: usize) {
        let groups = &mut self.state.borrow_mut().warps[warp];
        let issued = groups.issued;
        groups.commits.push_back(issued);
    }

    /// The number below which products are complete once at most `pending` groups of the warp are
    /// incomplete.
    pub fn needed(&self, warp: usize, pending: usize) -> u64 {
        let groups = &self.state.borrow().warps[warp];
        match groups.commits.len().checked_sub(pending) {
            None | Some(0) => groups.complete,
            Some(finished) => groups.commits[finished - 1],
        }
    }

    /// Whether all warps have issued the products below this number.
    pub fn are_issued(&self, needed: u64) -> bool {
        let warps = &self.state.borrow().warps;
        warps.iter().all(|groups| groups.issued >= needed)
    }

    /// The next product below this number that all warps have issued; it counts as performed.
    pub fn next(&self, needed: u64) -> Option<Product> {
        let state = &mut *self.state.borrow_mut();
        let first = state.first;
        let mut waiting = state.products.iter_mut().zip(first..);
        let (product, _) = waiting.find(|(product, number)| {
            *number < needed && !product.is_performed && product.is_issued()
        })?;
        product.is_performed = true;
        Some(product.clone())
    }

    /// Whether a product could run.
    pub fn is_busy(&self) -> bool {
        let state = self.state.borrow();
        let mut products = state.products.iter();
        products.any(|product| !product.is_performed && product.is_issued())
    }

    /// Notes that a warp has waited for the products below `needed`; returns the moments at which
    /// the warps issued the last of them.
    pub fn complete(&self, warp: usize, needed: u64) -> Option<[u32; WARPS]> {
        let state = &mut *self.state.borrow_mut();
        let last = needed.checked_sub(state.first + 1);
        let times = last
            .and_then(|place| state.products.get(place as usize))
            .map(|product| product.times);
        let groups = &mut state.warps[warp];
        groups.complete = groups.complete.max(needed);
        while groups.commits.front().is_some_and(|end| *end <= needed) {
            groups.commits.pop_front();
        }
        let done = state.warps.iter().map(|groups| groups.complete).min();
        while state.first < done.unwrap_or(0) {
            state.products.pop_front();
            state.first += 1;
        }
        times
    }

    /// Whether a warp has waited for the products below `needed`.
    pub fn is_complete(&self, warp: usize, needed: u64) -> bool {
        self.state.borrow().warps[warp].complete >= needed
    }

    /// The line of the first product that a warp has issued without a wait.
    pub fn unfinished(&self, warp: usize) -> Option<CallSite> {
        let state = self.state.borrow();
        let groups = &state.warps[warp];
        if groups.issued == groups.complete {
            return None;
        }
        let place = groups.complete.checked_sub(state.first)?;
        state.products.get(place as usize).map(|it| it.site)
    }

    /// The number of products that each warp has issued.
    pub fn issued(&self) -> [u64; WARPS] {
        let state = self.state.borrow();
        std::array::from_fn(|warp| state.warps[warp].issued)
    }
}
