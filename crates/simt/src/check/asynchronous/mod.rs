//! The asynchronous proxy: bulk copies, tensor cores, mbarriers, and the other blocks of a cluster.
//!
//! | module | content |
//! |---|---|
//! | `agents` | bulk copies and tensor cores, modelled as threads |
//! | `accesses` | the accesses of bulk copies and products |
//! | `copies` | asynchronous copies between issue and wait |
//! | `mbarriers` | the order that mbarriers establish |
//! | `layout` | the layout of a tile that a bulk copy has written |
//! | `layouts` | the check that a read uses the tile's swizzle |
//! | `clusters` | the blocks that form one cluster |
//! | `remote` | accesses by other blocks of the cluster |
//! | `report` | the description of a conflict with an asynchronous access |

pub(super) mod accesses;
pub(super) mod agents;
pub(super) mod clusters;
pub(super) mod copies;
pub(super) mod layout;
pub(super) mod layouts;
pub(super) mod mbarriers;
pub(super) mod remote;
pub(super) mod report;
