//! The groups of bulk stores of one thread.

use crate::basics::CallSite;
use std::collections::VecDeque;

/// A bulk store that a thread has issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct IssuedStore {
    pub number: u64,
    /// The moment of the issue, in the time of the block's checks.
    pub moment: u32,
    pub site: CallSite,
}

/// The bulk stores that one thread has not waited for, in the order of issue.
#[derive(Default)]
pub(crate) struct BulkGroups {
    /// The stores of each committed group, oldest group first.
    groups: VecDeque<Vec<IssuedStore>>,
    uncommitted: Vec<IssuedStore>,
    /// The number of committed groups that have been read.
    read: usize,
}

impl BulkGroups {
    /// Forgets all stores.
    pub fn clear(&mut self) {
        self.groups.clear();
        self.uncommitted.clear();
        self.read = 0;
    }

    /// Adds a store to the group that is not committed yet.
    pub fn issue(&mut self, store: IssuedStore) {
        self.uncommitted.push(store);
    }

    /// Makes a group of the stores since the last commit.
    pub fn commit(&mut self) {
        self.groups.push_back(std::mem::take(&mut self.uncommitted));
    }

    /// Takes out the stores of the oldest groups until `pending` groups are left.
    pub fn finish(&mut self, pending: usize) -> Vec<IssuedStore> {
        let finished = self.groups.len().saturating_sub(pending);
        self.read = self.read.saturating_sub(finished);
        self.groups.drain(..finished).flatten().collect()
    }

    /// The stores of the oldest groups, all but `pending` of them, whose sources are now free.
    pub fn read(&mut self, pending: usize) -> Vec<IssuedStore> {
        let read = self.groups.len().saturating_sub(pending);
        self.read = self.read.max(read);
        self.groups.iter().take(read).flatten().copied().collect()
    }

    /// The line of the oldest store that may still read its source, as far as the thread knows.
    pub fn first_unread(&self) -> Option<CallSite> {
        let committed = self.groups.iter().skip(self.read).flatten();
        committed.chain(&self.uncommitted).next().map(|it| it.site)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    #[test]
    fn groups_finish_in_order() {
        let site = Location::caller();
        let store = |number| IssuedStore {
            number,
            moment: 0,
            site,
        };
        let mut groups = BulkGroups::default();
        for number in 0..4 {
            groups.issue(store(number));
            groups.commit();
        }
        assert_eq!(groups.read(2), [store(0), store(1)]);
        assert_eq!(groups.first_unread(), Some(site));
        assert_eq!(groups.finish(3), [store(0)]);
        assert_eq!(groups.first_unread(), Some(site));
        assert_eq!(groups.read(0), [store(1), store(2), store(3)]);
        assert_eq!(groups.first_unread(), None);
        groups.issue(store(9));
        assert_eq!(groups.first_unread(), Some(site));
        assert_eq!(groups.finish(0), [store(1), store(2), store(3)]);
    }
}
