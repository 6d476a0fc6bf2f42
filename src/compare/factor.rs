//! What may differ when a factor is compared: the columns that follow from it.

use crate::output::Column;

/// A factor by the words for it, with the columns that it changes.
const FAMILIES: &[(&[&str], &[&str])] = &[
    (&["as", "cred"], &["cred", "uid", "gid", "relation"]),
    (&["mount-acl"], &["mount_acl", "acl_effective", "mount_options"]),
    (&["dir-acl"], &["dir_acl", "acl_entries", "relation", "depth"]),
    (&["dir-owner"], &["dir_owner", "relation", "depth"]),
    (&["dir-mode"], &["dir_mode", "relation", "depth"]),
    (&["acl-match"], &["acl_match", "relation"]),
    (&["clients"], &["clients", "threads"]),
    (&["engine"], &["engine", "threads", "route", "io_wq_max"]),
    (&["threads-per-disk", "threads"], &["threads", "io_wq_max"]),
    (&["cpus"], &["cpus", "threads", "io_wq_max"]),
    (&["loadfile", "load", "mix"], &["loadfile", "program_sha256"]),
    // Values of parameters: what they make of the loadfile is in its hash.
    (&["set"], &["program_sha256"]),
    (&["fstype", "mkfs"], &["fstype", "mount_options", "acl_effective"]),
    (&["time"], &["time_s", "warmup_s"]),
    (&["warmup"], &["warmup_s"]),
    (&["passes"], &["passes_limit"]),
    (&["interval"], &["interval_s"]),
    (&["rate"], &["rate_ops"]),
    (&["path"], &["path_mode"]),
    (&["no-resolve"], &["resolve"]),
    // Another kernel mounts with other defaults: `discard=async` of btrfs came with 6.2.
    (&["kernel"], &["kernel", "mount_options"]),
    // Defaults that follow from the number of processors.
    (&["host"], &["host", "threads", "io_wq_max"]),
];

/// The column that tells runs apart when this factor is compared: the first that follows from it.
pub(super) fn column_of(factor: &str) -> Option<Column> {
    let columns = columns_of(factor);
    let name = columns.first()?;
    Column::ALL.iter().copied().find(|column| column.name() == name)
}

/// Columns that may differ when this factor is compared: those that follow from it, and the one of
/// its own name.
pub(super) fn columns_of(factor: &str) -> Vec<String> {
    let factor = factor.replace('_', "-");
    let mut columns: Vec<String> = FAMILIES
        .iter()
        .filter(|(words, _)| words.contains(&factor.as_str()))
        .flat_map(|(_, columns)| columns.iter().map(|column| (*column).to_owned()))
        .collect();
    columns.push(factor.replace('-', "_"));
    columns
}

/// `key=value` pairs of a cell's text, which are separated by semicolons; none in a text that is
/// not made of such pairs.
pub(super) fn parse_cell(cell: &str) -> Vec<(String, String)> {
    let pair = |part: &str| {
        let (key, value) = part.split_once('=')?;
        Some((key.trim().to_owned(), value.trim().to_owned()))
    };
    let parts = cell.split(';').filter(|part| !part.trim().is_empty());
    parts.map(pair).collect::<Option<_>>().unwrap_or_default()
}

/// Factors in which two cells differ.
pub(super) fn differing(a: &str, b: &str) -> Vec<String> {
    let (a, b) = (parse_cell(a), parse_cell(b));
    let keys = a.iter().chain(&b).map(|(key, _)| key.clone());
    let value = |pairs: &[(String, String)], key: &str| {
        pairs.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    };
    let mut found: Vec<String> = keys.filter(|key| value(&a, key) != value(&b, key)).collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_by_hand() {
        assert_eq!(
            parse_cell("as=nobody;mount-acl=off"),
            [("as".into(), "nobody".into()), ("mount-acl".into(), "off".into())]
        );
        assert!(parse_cell("rand-read").is_empty());
        assert_eq!(differing("as=root;x=1", "as=nobody;x=1"), ["as"]);
        assert_eq!(differing("as=root", "as=root;y=2"), ["y"]);
    }

    #[test]
    fn a_factor_brings_what_follows_from_it() {
        assert_eq!(
            columns_of("mount_acl"),
            ["mount_acl", "acl_effective", "mount_options", "mount_acl"]
        );
        assert_eq!(columns_of("anything"), ["anything"]);
        assert_eq!(column_of("as"), Some(Column::Cred));
        assert_eq!(column_of("path"), Some(Column::PathMode));
        assert_eq!(column_of("run_label"), Some(Column::RunLabel));
        assert_eq!(column_of("nothing"), None);
    }
}
