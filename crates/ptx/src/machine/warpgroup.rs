//! Products of a warpgroup.

use super::fragments::{Fragment, of_tag, tag};
use super::invalid::invalid;
use super::thread::Thread;
use crate::decode::{List, WarpgroupOp};
use simt::Operand;

impl Thread<'_> {
    pub fn warpgroup_fence(&mut self, fragments: List) {
        let mut rest = self.list(fragments);
        while let Some((length, slots)) = rest.split_first() {
            let (slots, behind) = slots.split_at(*length as usize);
            self.hand_over(slots);
            rest = behind;
        }
        simt::wgmma_fence();
    }

    /// Hands accumulators to the tensor cores, unless they are there.
    fn hand_over(&mut self, slots: &[u32]) {
        if self.fragment_in(slots).is_some() {
            return;
        }
        let mut registers: Vec<u32> = slots.iter().map(|slot| self.get(*slot) as u32).collect();
        simt::wgmma_begin(&mut registers);
        let number = self.fragments.next;
        self.fragments.next = number.wrapping_add(1);
        for (place, slot) in slots.iter().enumerate() {
            self.set(*slot, tag(number, place));
        }
        self.fragments.held.push(Fragment {
            number,
            registers,
            group: None,
        });
    }

    /// The place in `held` of the fragment that these slots have, all of it and in order.
    fn fragment_in(&self, slots: &[u32]) -> Option<usize> {
        let (number, _) = of_tag(self.get(*slots.first()?))?;
        let mut tags = slots.iter().map(|slot| of_tag(self.get(*slot))).enumerate();
        let is_whole = tags.all(|(place, tag)| tag == Some((number, place)));
        let mut held = self.fragments.held.iter();
        held.position(|it| it.number == number && it.registers.len() == slots.len())
            .filter(|_| is_whole)
    }

    pub fn warpgroup_product(&mut self, it: &WarpgroupOp) {
        let slots = self.list(it.accumulators);
        let Some(place) = self.fragment_in(slots) else {
            invalid("a product without a `wgmma.fence` after its accumulators were written")
        };
        let (a, b) = (self.operand(self.get(it.a)), self.operand(self.get(it.b)));
        let of_registers = it.a_registers.map(|list| {
            let mut registers = [0; 4];
            for (register, slot) in registers.iter_mut().zip(self.list(list)) {
                *register = self.get(*slot) as u32;
            }
            registers
        });
        let accumulate = self.get(it.accumulate) != 0;
        let group = self.fragments.groups;
        let fragment = &mut self.fragments.held[place];
        fragment.group = Some(group);
        let (registers, instruction) = (&mut fragment.registers, it.instruction);
        match of_registers {
            None => simt::wgmma(registers, instruction, a, b, accumulate),
            Some(a) => simt::wgmma_of_registers(registers, instruction, a, b, accumulate),
        }
    }

    /// An operand in shared memory. PTX does not say in which array its tile lies.
    fn operand(&self, descriptor: u64) -> Operand {
        Operand {
            descriptor,
            tile: self.shared,
            bytes: self.shared_bytes,
        }
    }

    pub fn warpgroup_commit(&mut self) {
        simt::wgmma_commit();
        self.fragments.groups += 1;
    }

    pub fn warpgroup_wait(&mut self, pending: u32) {
        let pending = self.get(pending) as u32;
        simt::wgmma_wait(pending);
        let finished = self.fragments.groups.saturating_sub(pending.into());
        let is_finished = |it: &Fragment| it.group.is_none_or(|group| group < finished);
        let held = std::mem::take(&mut self.fragments.held);
        let (done, held): (Vec<_>, Vec<_>) = held.into_iter().partition(is_finished);
        self.fragments.held = held;
        if done.is_empty() {
            return;
        }
        let done = done.into_iter().map(|mut fragment| {
            simt::wgmma_collect(&mut fragment.registers);
            fragment
        });
        let done: Vec<Fragment> = done.collect();
        for slot in &mut self.slots {
            if let Some((number, place)) = of_tag(*slot)
                && let Some(fragment) = done.iter().find(|it| it.number == number)
                && let Some(register) = fragment.registers.get(place)
            {
                *slot = (*register).into();
            }
        }
    }
}
