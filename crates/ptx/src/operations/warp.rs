//! Operations of the lanes of a warp together.

use super::family::family;
use crate::words::{Absolute, MatchMode, NotANumber, Reduce, ShuffleMode, Sync, Type, VoteMode};

family! {
    /// Values of other lanes.
    Shuffle: ShuffleName { Shuffle = "shfl.sync", }
    with 5..=5;
    /// How the lane is found.
    mode: ShuffleMode,
    /// Always `b32`.
    of: Type,
}

family! {
    /// Votes.
    Vote: VoteName { Vote = "vote.sync", }
    with 3..=3;
    /// The result that is returned.
    mode: VoteMode,
    /// The type of the result.
    of: Type,
}

family! {
    /// Lanes with the same value.
    Match: MatchName { Match = "match", }
    with 3..=3;
    /// Which lanes.
    mode: MatchMode,
    /// Always there.
    sync: Sync,
    /// The type of the value.
    of: Type,
}

family! {
    /// The lanes that are together.
    ActiveMask: ActiveMaskName { ActiveMask = "activemask", }
    with 1..=1;
    /// Always `b32`.
    of: Type,
}

family! {
    /// Values of all lanes combined.
    Reduction: ReductionName { Reduction = "redux.sync", }
    with 3..=3;
    /// How.
    operation: Reduce,
    /// Whether by absolute value.
    absolute: Option<Absolute>,
    /// Whether a NaN among the operands is the result.
    nan: Option<NotANumber>,
    /// The type of the values.
    of: Type,
}

family! {
    /// Chooses one lane.
    Elect: ElectName { Elect = "elect.sync", }
    with 2..=2;
}
