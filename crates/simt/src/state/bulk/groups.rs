//! The groups of bulk stores of one thread.

use std::collections::VecDeque;

/// The bulk stores of one thread that it has not waited for, in the order of their issue.
#[derive(Default)]
pub(crate) struct BulkGroups {
    /// The numbers of the stores of each committed group, oldest group first.
    groups: VecDeque<Vec<u64>>,
    uncommitted: Vec<u64>,
    /// Of the committed groups, so many have been read.
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
    pub fn issue(&mut self, number: u64) {
        self.uncommitted.push(number);
    }

    /// Makes a group of the stores since the last commit.
    pub fn commit(&mut self) {
        self.groups.push_back(std::mem::take(&mut self.uncommitted));
    }

    /// The stores of the oldest groups until `pending` are left. They need not be waited for again.
    pub fn finish(&mut self, pending: usize) -> Vec<u64> {
        let finished = self.groups.len().saturating_sub(pending);
        self.read = self.read.saturating_sub(finished);
        self.groups.drain(..finished).flatten().collect()
    }

    /// The stores of the oldest groups until `pending` are left, of which the sources are no longer
    /// needed.
    pub fn read(&mut self, pending: usize) -> Vec<u64> {
        let read = self.groups.len().saturating_sub(pending);
        self.read = self.read.max(read);
        self.groups.iter().take(read).flatten().copied().collect()
    }

    /// The oldest store whose source may still be read, as far as the thread knows.
    pub fn first_unread(&self) -> Option<u64> {
        let committed = self.groups.iter().skip(self.read).flatten();
        committed.chain(&self.uncommitted).next().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_finish_in_order() {
        let mut groups = BulkGroups::default();
        for number in 0..4 {
            groups.issue(number);
            groups.commit();
        }
        assert_eq!(groups.read(2), [0, 1]);
        assert_eq!(groups.first_unread(), Some(2));
        assert_eq!(groups.finish(3), [0]);
        assert_eq!(groups.first_unread(), Some(2));
        assert_eq!(groups.read(0), [1, 2, 3]);
        assert_eq!(groups.first_unread(), None);
        groups.issue(9);
        assert_eq!(groups.first_unread(), Some(9));
        assert_eq!(groups.finish(0), [1, 2, 3]);
    }
}
