//! The accumulators that one thread has handed to the tensor cores.

/// The bits of an accumulator whose value the tensor cores hold: a NaN.
const ABSENT: u32 = 0x7fff_dead;

/// The upper half of the first accumulator's bits meanwhile; the lower half is the fragment's number.
const MARK: u32 = 0x7fc5_0000;

/// The accumulators of one product.
pub(crate) struct Fragment {
    number: u32,
    pub values: Vec<u32>,
    /// Whether a fence has followed their hand-over.
    pub is_fenced: bool,
    /// One plus the number of the last product that adds to them.
    pub needs: u64,
}

/// The accumulators of one thread that the tensor cores hold.
#[derive(Default)]
pub(crate) struct Fragments {
    held: Vec<Fragment>,
    next: u32,
}

impl Fragments {
    /// Forgets all accumulators.
    pub fn clear(&mut self) {
        self.held.clear();
        self.next = 0;
    }

    /// Takes the values of the accumulators, unless the tensor cores hold them already.
    pub fn hand_over(&mut self, registers: &mut [u32]) {
        if registers.is_empty() || self.find(registers).is_some() {
            return;
        }
        let number = MARK | self.next & 0xffff;
        self.next += 1;
        self.held.push(Fragment {
            number,
            values: registers.to_vec(),
            is_fenced: false,
            needs: 0,
        });
        registers.fill(ABSENT);
        registers[0] = number;
    }

    /// Makes all accumulators visible to the products that follow.
    pub fn fence(&mut self) {
        self.held.iter_mut().for_each(|it| it.is_fenced = true);
    }

    /// The fragment whose mark the accumulators hold.
    pub fn find(&mut self, registers: &[u32]) -> Option<&mut Fragment> {
        let number = *registers.first()?;
        self.numbered(number)
            .filter(|fragment| fragment.values.len() == registers.len())
    }

    /// The fragment of this mark.
    pub fn numbered(&mut self, number: u32) -> Option<&mut Fragment> {
        self.held
            .iter_mut()
            .find(|fragment| fragment.number == number)
    }

    /// Returns the values to the thread.
    pub fn collect(&mut self, registers: &mut [u32]) {
        let number = registers.first().copied();
        let is_wanted = |fragment: &Fragment| Some(fragment.number) == number;
        if let Some(place) = self.held.iter().position(is_wanted) {
            let fragment = self.held.swap_remove(place);
            registers.copy_from_slice(&fragment.values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        let mut fragments = Fragments::default();
        let (mut one, mut other) = ([1, 2], [3, 4]);
        fragments.hand_over(&mut one);
        fragments.hand_over(&mut other);
        fragments.hand_over(&mut one);
        assert!(one[1] == ABSENT && one[0] != other[0]);
        fragments.find(&one).unwrap().values[1] = 9;
        fragments.collect(&mut one);
        fragments.collect(&mut other);
        assert_eq!((one, other), ([1, 9], [3, 4]));
        assert!(fragments.find(&one).is_none());
    }
}
