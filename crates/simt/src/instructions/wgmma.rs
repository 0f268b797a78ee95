//! Products of warpgroups: `wgmma` of the PTX ISA (section "Asynchronous Warpgroup Level Matrix
//! Instructions").
//!
//! Four warps issue a product together, and a wait by one of them covers the whole product. Its operands are read,
//! and its accumulators change, at some moment between the issue by the last warp and the wait.

use crate::basics::{DefectKind, NumberHasher};
use crate::block::Wait;
use crate::current::live_instruction;
use crate::state::{Operand, Product, WARPS, Wgmma};
use std::hash::{Hash, Hasher};

/// Hands the accumulators of the running thread to the tensor cores, unless they are there already.
///
/// Until [`wgmma_collect`], `registers` has no values.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn wgmma_begin(registers: &mut [u32]) {
    live_instruction(|thread, block, site| {
        block.warpgroup_of(thread, "wgmma", site);
        block.uses_machine.set(true);
        thread.machine.fragments.borrow_mut().hand_over(registers);
    });
}

/// Makes the running warp's accumulators visible to the products that follow (`wgmma.fence`).
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn wgmma_fence() {
    live_instruction(|thread, block, site| {
        block.warpgroup_of(thread, "wgmma", site);
        thread.machine.fragments.borrow_mut().fence();
        block.meet_warp(thread, "wgmma.fence", 0, site);
    });
}

/// Issues a product of the running thread's warpgroup: D = A B + D with `accumulate`, otherwise D = A B.
///
/// `registers` are the running thread's part of D, as [`wgmma_begin`] has left them.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn wgmma(registers: &mut [u32], instruction: Wgmma, a: Operand, b: Operand, accumulate: bool) {
    issue(registers, instruction, (a, None), b, accumulate);
}

/// [`wgmma`] whose A is in registers, four of each thread.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn wgmma_of_registers(
    registers: &mut [u32],
    instruction: Wgmma,
    a: [u32; 4],
    b: Operand,
    accumulate: bool,
) {
    let none = Operand {
        descriptor: 0,
        tile: 0,
        bytes: 0,
    };
    issue(registers, instruction, (none, Some(a)), b, accumulate);
}

#[track_caller]
fn issue(
    registers: &mut [u32],
    instruction: Wgmma,
    (a, a_registers): (Operand, Option<[u32; 4]>),
    b: Operand,
    accumulate: bool,
) {
    live_instruction(|thread, block, site| {
        let group = block.warpgroup_of(thread, "wgmma", site);
        block.check_instruction(thread, &instruction, registers.len(), site);
        let is_fenced = thread
            .machine
            .fragments
            .borrow_mut()
            .find(registers)
            .map(|it| it.is_fenced);
        let message = match is_fenced {
            Some(true) => None,
            Some(false) => Some(
                "a product without a `wgmma.fence` after its accumulators were passed to the tensor \
                 cores",
            ),
            None => Some("a product whose accumulators are not with the tensor cores"),
        };
        if let Some(message) = message {
            block.fail(
                thread,
                DefectKind::InvalidArgument,
                message.to_owned(),
                site,
            );
        }
        let mut product = Product::new(instruction, (a, b), accumulate, site);
        if let Some(own) = a_registers {
            thread.machine.a_registers.set(own);
        }
        let mut hasher = NumberHasher::default();
        let operands = (instruction, a, a_registers.is_some(), b, accumulate);
        (operands, registers[0]).hash(&mut hasher);
        if block.meet_warp(thread, "wgmma", hasher.finish(), site) {
            if a_registers.is_some() {
                product.a_rows = Some(block.rows_of_warp(thread));
            }
            block.issue_product(thread, (group, registers[0]), product);
        }
    });
}

/// Groups the products that the running warp has issued since its last commit.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn wgmma_commit() {
    live_instruction(|thread, block, site| {
        let group = block.warpgroup_of(thread, "wgmma", site);
        if block.meet_warp(thread, "wgmma.commit_group", 0, site) {
            let warp = thread.position.warp as usize % WARPS;
            block.products[group].commit(warp);
        }
    });
}

/// Waits until at most the `pending` youngest groups of the running warp's products are incomplete.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn wgmma_wait(pending: u32) {
    live_instruction(|thread, block, site| {
        let group = block.warpgroup_of(thread, "wgmma", site);
        block.meet_warp(thread, "wgmma.wait_group", pending.into(), site);
        let warp = thread.position.warp as usize % WARPS;
        let queue = &block.products[group];
        let needed = queue.needed(warp, pending as usize);
        while !queue.are_issued(needed) {
            thread.wait_for(Wait::Products, site);
        }
        block.perform_products(group, needed, usize::MAX);
        // The first lane waits for all of them.
        if !queue.is_complete(warp, needed)
            && let Some(times) = queue.complete(warp, needed)
        {
            block.acquire_products(thread, times);
        }
    });
}

/// Returns the accumulators to the running thread, after a wait for all groups that add to them.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn wgmma_collect(registers: &mut [u32]) {
    live_instruction(|thread, block, site| {
        let group = block.warpgroup_of(thread, "wgmma", site);
        let mut fragments = thread.machine.fragments.borrow_mut();
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
