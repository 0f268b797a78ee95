//! Relations between a few events.

/// For each event, one bit for each event that it is related to.
#[derive(Clone)]
pub struct Relation(Vec<u32>);

impl Relation {
    /// The empty relation of `events` events.
    pub fn new(events: usize) -> Self {
        Self(vec![0; events])
    }

    pub fn add(&mut self, from: usize, to: usize) {
        self.0[from] |= 1 << to;
    }

    pub fn has(&self, from: usize, to: usize) -> bool {
        self.0[from] >> to & 1 == 1
    }

    /// All pairs, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let events = 0..self.0.len();
        let to = move |from| events.clone().map(move |to| (from, to));
        (0..self.0.len())
            .flat_map(to)
            .filter(|(from, to)| self.has(*from, *to))
    }

    pub fn union(&self, other: &Self) -> Self {
        let rows = self.0.iter().zip(&other.0);
        Self(rows.map(|(one, other)| one | other).collect())
    }

    /// The composition: a step of this relation, then one of the other.
    pub fn then(&self, other: &Self) -> Self {
        let mut result = Self::new(self.0.len());
        for (from, middle) in self.pairs() {
            result.0[from] |= other.0[middle];
        }
        result
    }

    /// The transitive closure.
    pub fn closure(&self) -> Self {
        let mut closed = self.clone();
        for middle in 0..closed.0.len() {
            for from in 0..closed.0.len() {
                if closed.has(from, middle) {
                    closed.0[from] |= closed.0[middle];
                }
            }
        }
        closed
    }

    pub fn is_acyclic(&self) -> bool {
        let closed = self.closure();
        (0..closed.0.len()).all(|event| !closed.has(event, event))
    }
}

/// All orders of some events.
pub fn orders(events: &[usize]) -> Vec<Vec<usize>> {
    if events.is_empty() {
        return vec![Vec::new()];
    }
    let first = |index: usize| {
        let mut rest = events.to_vec();
        let first = rest.remove(index);
        let orders = orders(&rest).into_iter();
        orders.map(move |order| [&[first], &order[..]].concat())
    };
    (0..events.len()).flat_map(first).collect()
}
