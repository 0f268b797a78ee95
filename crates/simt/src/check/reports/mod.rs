//! Descriptions of conflicts, and the list of those after which a launch continues.
//!
//! | module | content |
//! |---|---|
//! | `conflict` | the description of a conflict |
//! | `place` | the description of the bytes of an access |
//! | `findings` | the findings after which a launch has continued |
//! | `survivable` | conflicts after which a launch continues |

pub(super) mod conflict;
pub(super) mod findings;
pub(super) mod place;
pub(super) mod survivable;
