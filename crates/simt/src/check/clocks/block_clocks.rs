//! The clocks of many blocks, as a persistent map: an update shares what it does not change.
//!
//! A radix tree with shared, immutable nodes (Bagwell, "Ideal hash trees", 2001; block numbers need no hash). Clocks
//! with a common history share subtrees, which a join recognises by their addresses, so its cost depends on the
//! differences, not on the size.

use crate::check::clocks::block_clock::BlockClock;
use std::sync::Arc;

/// Bits of a block's number that choose a child.
const BITS: u32 = 4;
const CHILDREN: usize = 1 << BITS;

type Children<T> = [Option<Arc<T>>; CHILDREN];

#[derive(Clone)]
enum Node {
    Leaf(Children<BlockClock>),
    Branch(Children<Node>),
}

impl Node {
    /// One `level` levels above the leaves.
    fn empty(level: u32) -> Self {
        match level {
            0 => Self::Leaf([const { None }; CHILDREN]),
            _ => Self::Branch([const { None }; CHILDREN]),
        }
    }
}

/// Clocks by block.
#[derive(Clone, Default)]
pub(in crate::check) struct BlockClocks {
    root: Option<Arc<Node>>,
    /// Levels of the tree above its leaves.
    height: u32,
}

impl BlockClocks {
    /// Adds a clock of a block.
    pub fn add(&mut self, block: u32, clock: Arc<BlockClock>) {
        let mut height = self.height;
        while block.unbounded_shr((height + 1) * BITS) != 0 {
            height += 1;
        }
        let mut node = match self.root.take() {
            Some(root) => self.root.insert(raised(root, height - self.height)),
            None => self.root.insert(Arc::new(Node::empty(height))),
        };
        self.height = height;
        for level in (0..=height).rev() {
            match Arc::make_mut(node) {
                Node::Branch(nodes) => {
                    node = nodes[child(block, level)]
                        .get_or_insert_with(|| Arc::new(Node::empty(level - 1)));
                }
                Node::Leaf(clocks) => {
                    let known = &mut clocks[child(block, level)];
                    *known = Some(match known {
                        Some(known) => BlockClock::join_shared(known, &clock),
                        None => clock,
                    });
                    return;
                }
            }
        }
    }

    /// Whether both are the same tree.
    pub fn is_same(&self, other: &Self) -> bool {
        is_one(&self.root, &other.root)
    }

    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// The clock of `block`, if there is one.
    pub fn get(&self, block: u32) -> Option<&BlockClock> {
        if block.unbounded_shr((self.height + 1) * BITS) != 0 {
            return None;
        }
        let (mut node, mut level) = (self.root.as_deref()?, self.height);
        loop {
            match node {
                Node::Leaf(clocks) => return clocks[child(block, 0)].as_deref(),
                Node::Branch(nodes) => {
                    node = nodes[child(block, level)].as_deref()?;
                    level -= 1;
                }
            }
        }
    }

    /// Adds the other's clocks.
    pub fn join(&mut self, other: &Self) {
        let Some(others) = &other.root else { return };
        let Some(own) = self.root.take() else {
            *self = other.clone();
            return;
        };
        let height = self.height.max(other.height);
        let own = raised(own, height - self.height);
        let others = raised(Arc::clone(others), height - other.height);
        self.root = Some(join_nodes(&own, &others));
        self.height = height;
    }
}

/// The child for `block` of a node `level` levels above the leaves.
fn child(block: u32, level: u32) -> usize {
    (block >> (level * BITS)) as usize % CHILDREN
}

/// The same tree under `levels` more levels.
fn raised(mut node: Arc<Node>, levels: u32) -> Arc<Node> {
    for _ in 0..levels {
        let mut children = [const { None }; CHILDREN];
        children[0] = Some(node);
        node = Arc::new(Node::Branch(children));
    }
    node
}

fn join_nodes(one: &Arc<Node>, other: &Arc<Node>) -> Arc<Node> {
    if Arc::ptr_eq(one, other) {
        return Arc::clone(one);
    }
    let joined = match (&**one, &**other) {
        (Node::Leaf(own), Node::Leaf(others)) => {
            join_children(own, others, BlockClock::join_shared).map(Node::Leaf)
        }
        (Node::Branch(own), Node::Branch(others)) => {
            join_children(own, others, join_nodes).map(Node::Branch)
        }
        _ => unreachable!("both trees have one height"),
    };
    match joined {
        Joined::One => Arc::clone(one),
        Joined::Other => Arc::clone(other),
        Joined::New(node) => Arc::new(node),
    }
}

/// The result of a join.
enum Joined<T> {
    /// The first: it has all of the second.
    One,
    /// The second: it has all of the first.
    Other,
    New(T),
}

impl<T> Joined<T> {
    fn map<U>(self, action: impl FnOnce(T) -> U) -> Joined<U> {
        match self {
            Self::One => Joined::One,
            Self::Other => Joined::Other,
            Self::New(item) => Joined::New(action(item)),
        }
    }
}

fn join_children<T>(
    own: &Children<T>,
    others: &Children<T>,
    join: impl Fn(&Arc<T>, &Arc<T>) -> Arc<T>,
) -> Joined<Children<T>> {
    let joined: Children<T> = std::array::from_fn(|index| match (&own[index], &others[index]) {
        (Some(own), Some(other)) => Some(join(own, other)),
        (own, other) => own.as_ref().or(other.as_ref()).map(Arc::clone),
    });
    if are_same(&joined, own) {
        Joined::One
    } else if are_same(&joined, others) {
        Joined::Other
    } else {
        Joined::New(joined)
    }
}

fn are_same<T>(left: &Children<T>, right: &Children<T>) -> bool {
    left.iter()
        .zip(right)
        .all(|(left, right)| is_one(left, right))
}

/// Whether both are the same, or both are empty.
pub(in crate::check) fn is_one<T: ?Sized>(left: &Option<Arc<T>>, right: &Option<Arc<T>>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => Arc::ptr_eq(left, right),
        (left, right) => left.is_none() && right.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basics::SplitMix64;
    use std::collections::BTreeMap;

    /// A clock of one block only.
    fn of(block: u32, time: u32) -> BlockClocks {
        let mut clocks = BlockClocks::default();
        clocks.add(block, Arc::new(BlockClock::new(time, [])));
        clocks
    }

    /// Random maps, joined in any order, against a map of times.
    #[test]
    fn joins_agree_with_a_plain_map() {
        let mut random = SplitMix64::new(3, 0);
        let mut maps: Vec<(BlockClocks, BTreeMap<u32, u32>)> = vec![Default::default(); 6];
        for _ in 0..2000 {
            let into = random.below(6) as usize;
            let (clocks, times) = if random.below(4) == 0 {
                maps[random.below(6) as usize].clone()
            } else {
                let bits = random.below(33) as u32;
                let block = (random.next() as u32).unbounded_shr(bits);
                let time = random.below(50) as u32;
                (of(block, time), BTreeMap::from([(block, time)]))
            };
            if let [(block, time)] = times.iter().collect::<Vec<_>>()[..]
                && random.below(2) == 0
            {
                let clock = Arc::new(BlockClock::new(*time, []));
                maps[into].0.add(*block, clock);
            } else {
                maps[into].0.join(&clocks);
            }
            for (block, time) in times {
                let known = maps[into].1.entry(block).or_insert(0);
                *known = time.max(*known);
            }
            for (clocks, times) in &maps {
                assert_eq!(clocks.is_empty(), times.is_empty());
                let probe = random.next() as u32 >> random.below(32);
                for block in times.keys().copied().chain([probe]) {
                    let time = clocks.get(block).map(|clock| clock.at(3));
                    assert_eq!(time, times.get(&block).copied());
                }
            }
        }
    }

    #[test]
    fn what_does_not_change_is_shared() {
        let mut all = BlockClocks::default();
        (0..1000).for_each(|block| all.join(&of(block, 1)));
        let before = all.clone();
        all.join(&of(77, 1));
        assert!(all.is_same(&before));
        let mut part = of(500, 1);
        part.join(&all);
        all.join(&part);
        assert!(all.is_same(&before));
    }
}
