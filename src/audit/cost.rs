//! What a deciding step costs relative to the shortcut: figures measured elsewhere, never here.
//!
//! They are ratios of whole `stat` calls on a path of 15 directories and a file, all directories
//! alike, against the same path where the shortcut decides in each. Measured on Linux 6.18.44, ext4
//! (xfs and tmpfs within 5 %), a virtual machine with 2 cores, least of 60 windows of 1500 calls, all
//! caches warm. docs/permissions.md has the table; `scripts/permission-factors` measures it on the
//! machine at hand.

use serde::Serialize;

use super::decide::{Decision, Step};
use crate::host::acl::Who;

/// Where the figures come from, for a line below a table.
pub const SOURCE: &str = "stat of a path of 15 such directories, against the shortcut in all of them; \
     ext4, Linux 6.18, measured on another machine";

/// What others pay on overlayfs, relative to the owner there, measured in the same way.
pub const OVERLAY_OTHERS: &str = "1.3";

/// The same where the layer is idmapped: each of their walks leaves RCU mode.
pub const IDMAPPED_OTHERS: &str = "1.8 to 2.15";

/// A factor: 1 is the price of the shortcut.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// From.
    pub low: f64,
    /// To; the same as `low` where there is one figure.
    pub high: f64,
    /// The line of the table in docs/permissions.md.
    pub line: &'static str,
}

impl Cost {
    const fn new(line: &'static str, low: f64, high: f64) -> Option<Self> {
        Some(Self { low, high, line })
    }

    /// The factor of a granted check in a directory; `None` where nothing was measured that fits.
    #[must_use]
    pub fn of(decision: &Decision) -> Option<Self> {
        if !decision.granted {
            return None;
        }
        match decision.step {
            Step::Shortcut => Self::new("A", 1.0, 1.0),
            Step::Owner => Self::new("C1, D4, E3", 1.05, 1.08),
            Step::Group => Self::new("E1", 1.29, 1.29),
            Step::Other if decision.group_test => Self::new("E2", 1.23, 1.23),
            Step::Other => None,
            Step::Capability => Self::new("F", 1.66, 1.8),
            Step::Acl => Self::of_scan(decision),
        }
    }

    /// Of a scan that ends at the first name (`user::` comes before it), after one name, or after up
    /// to 16 of them.
    fn of_scan(decision: &Decision) -> Option<Self> {
        let scan = decision.scan?;
        match scan.scanned {
            0..=2 if matches!(scan.entry.who, Who::User(_)) => Self::new("D1", 1.37, 1.37),
            5 if scan.entry.who == Who::Other => Self::new("D2", 1.52, 1.52),
            ..6 => Self::new("D1, D2", 1.37, 1.52),
            6..=20 => Self::new("D2, D3", 1.52, 3.0),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::decide::Scan;
    use crate::host::acl::AclEntry;

    fn decision(step: Step, scanned: usize, who: Who) -> Decision {
        let scan = Some(Scan { entry: AclEntry { who, perms: 5 }, mask: None, scanned });
        Decision { step, granted: true, before: step, scan, capability: None, group_test: false }
    }

    #[test]
    fn figures_of_scans() {
        let cost = |scanned, who| {
            Cost::of(&decision(Step::Acl, scanned, who)).map(|cost| (cost.low, cost.high))
        };
        assert_eq!(cost(2, Who::User(1)), Some((1.37, 1.37)));
        // user::, one name, group::, mask::, other::
        assert_eq!(cost(5, Who::Other), Some((1.52, 1.52)));
        assert_eq!(cost(3, Who::OwningGroup), Some((1.37, 1.52)));
        assert_eq!(cost(20, Who::Other), Some((1.52, 3.0)));
        assert_eq!(cost(21, Who::Other), None);
    }

    #[test]
    fn no_figure_without_a_grant() {
        let denied = Decision { granted: false, ..decision(Step::Group, 0, Who::Other) };
        assert_eq!(Cost::of(&denied), None);
        assert_eq!(Cost::of(&decision(Step::Other, 0, Who::Other)), None);
    }
}
