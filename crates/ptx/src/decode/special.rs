//! Special registers (PTX ISA, 10).

/// A special register, whose value a thread keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Special {
    Thread(Axis),
    BlockSize(Axis),
    Block(Axis),
    GridSize(Axis),
    BlockInCluster(Axis),
    ClusterSize(Axis),
    Cluster(Axis),
    Clusters(Axis),
    Lane,
    Warp,
    Warps,
    WarpWidth,
    LanesBelow,
    LanesUpTo,
    OwnLane,
    LanesFrom,
    LanesAbove,
    RankInCluster,
    BlocksInCluster,
    DynamicSharedBytes,
}

/// A component of an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Axis {
    X,
    Y,
    Z,
}

impl Special {
    /// The register of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.strip_prefix('%').unwrap_or(name);
        if let Some((name, axis)) = name.split_once('.') {
            let axis = match axis {
                "x" => Axis::X,
                "y" => Axis::Y,
                "z" => Axis::Z,
                _ => return None,
            };
            return Self::of_vector(name, axis);
        }
        Some(match name {
            "laneid" => Self::Lane,
            "warpid" => Self::Warp,
            "nwarpid" => Self::Warps,
            "WARP_SZ" => Self::WarpWidth,
            "lanemask_lt" => Self::LanesBelow,
            "lanemask_le" => Self::LanesUpTo,
            "lanemask_eq" => Self::OwnLane,
            "lanemask_ge" => Self::LanesFrom,
            "lanemask_gt" => Self::LanesAbove,
            "cluster_ctarank" => Self::RankInCluster,
            "cluster_nctarank" => Self::BlocksInCluster,
            "dynamic_smem_size" => Self::DynamicSharedBytes,
            _ => return None,
        })
    }

    fn of_vector(name: &str, axis: Axis) -> Option<Self> {
        Some(match name {
            "tid" => Self::Thread(axis),
            "ntid" => Self::BlockSize(axis),
            "ctaid" => Self::Block(axis),
            "nctaid" => Self::GridSize(axis),
            "cluster_ctaid" => Self::BlockInCluster(axis),
            "cluster_nctaid" => Self::ClusterSize(axis),
            "clusterid" => Self::Cluster(axis),
            "nclusterid" => Self::Clusters(axis),
            _ => return None,
        })
    }
}
