//! Descriptions of conflicts, and the list of those that a launch survives.
//!
//! | module | content |
//! |---|---|
//! | `conflict` | the description of a conflict |
//! | `place` | the description of the bytes of an access |
//! | `findings` | the findings that a launch has survived |
//! | `survivable` | conflicts after which a launch goes on |

pub(super) mod conflict;
pub(super) mod findings;
pub(super) mod place;
pub(super) mod survivable;
