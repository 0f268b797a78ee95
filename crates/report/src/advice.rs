//! Advice in words.

use tilewright::Advice;

/// The advice as a clause. The techniques have their names in table 6.1 of Hwu, Kirk and El Hajj, "Programming
/// Massively Parallel Processors".
pub(crate) fn advice(advice: Advice) -> String {
    let text = match advice {
        Advice::RaiseOccupancy => {
            "raise the occupancy, or keep more loads in flight in each thread"
        }
        Advice::FillDevice {
            blocks,
            multiprocessors,
        } => {
            return format!(
                "raise the occupancy: {blocks} blocks for {multiprocessors} multiprocessors; use \
                 more and smaller blocks, or less thread coarsening"
            );
        }
        Advice::CoalesceAccesses { sector_efficiency } => {
            return format!(
                "coalesce global accesses: lanes request {:.0} % of the transferred bytes",
                100.0 * sector_efficiency
            );
        }
        Advice::ReduceDivergence { branch_efficiency } => {
            return format!(
                "reduce control divergence: {:.0} % of the lanes take part in arithmetic",
                100.0 * branch_efficiency
            );
        }
        Advice::TileReusedData => "tile reused data: threads read the same data again",
        Advice::Privatise => "privatise: most requests are atomic updates",
        Advice::CoarsenBlocks => "coarsen threads: blocks read the same data again",
        Advice::CoarsenThreads => {
            "coarsen threads: let an element of shared memory serve several outputs from registers"
        }
        Advice::AvoidBankConflicts { lost_passes } => {
            return format!(
                "avoid bank conflicts, which cause {:.0} % of the passes: pad the rows or permute \
                 the columns",
                100.0 * lost_passes
            );
        }
        Advice::EnlargeLaunch => {
            "give the launch more work: starting it takes longer than the work"
        }
        Advice::MoveFewerBytes => "move fewer bytes: each one already moves once",
        Advice::DoFewerOperations => {
            "do fewer operations, or use tensor cores: the floating-point units are busy"
        }
        _ => "unknown to this version of the report",
    };
    text.to_owned()
}
