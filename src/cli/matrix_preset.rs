//! `matrix --preset`: ready plans.

use std::ffi::OsString;
use std::path::Path;

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::draft::Draft;
use super::matrix::MatrixPreset;
use super::vary;
use crate::host::disks;
use crate::host::limits;
use crate::host::mounts::{MountFacts, mounts};
use crate::host::noacl;
use crate::matrix::Metric;

/// The load of the preset of this name.
const TIOBENCH: &str = "tiobench";

/// Adds a preset to what was said; what was said before holds.
pub(super) fn apply(preset: MatrixPreset, draft: &mut Draft, disks: &[OsString]) {
    match preset {
        MatrixPreset::Permission => {
            add(draft, "as=root,nobody");
            add(draft, "dir-owner=third,caller");
            add_acls(draft, disks);
            if !draft.says("mix") {
                draft.propose("loadfile", "pathwalk");
            }
        }
        MatrixPreset::Vfs2010 => {
            add(draft, "as=nobody,root");
            add_acls(draft, disks);
            add(draft, "loadfile=default,pathwalk");
            // As in 2010: the disks are root's, whom checks know as the owner.
            draft.propose("dir-owner", "root");
            draft.propose("clients", "4");
        }
        MatrixPreset::Scaling => scaling(draft),
        MatrixPreset::Tiobench => {
            add(draft, "clients=1,2,4,8");
            draft.propose("loadfile", TIOBENCH);
            // As its threads are, which belong to one process.
            draft.propose("share", "fd");
            // It writes zeros, once, to files that are not there yet.
            draft.propose("data", "zero");
            draft.propose("warmup", "0");
            if !draft.says("time") {
                draft.propose("passes", "1");
            }
        }
    }
}

/// What a preset looks at first, unless that was said, or the load is another one.
pub(super) fn metric(
    preset: Option<MatrixPreset>,
    draft: &Draft,
    matches: &ArgMatches,
) -> Option<Metric> {
    let said = matches.value_source("metric") == Some(ValueSource::CommandLine);
    let its_own = draft.value("loadfile").as_deref() == Some(TIOBENCH);
    // The phase in which shared descriptors showed in 2005.
    let column = "bytes_per_s:phase=randread";
    let applies = preset == Some(MatrixPreset::Tiobench) && its_own && !said;
    applies.then(|| Metric::parse(column).ok()).flatten()
}

/// A factor, unless something was said of it.
fn add(draft: &mut Draft, text: &str) {
    let name = text.split('=').next().unwrap_or_default();
    if draft.says(name) {
        return;
    }
    if let Ok(factor) = vary::factor(text, true) {
        let _ = draft.add(factor);
    }
}

/// ACLs off where the file systems can do that, else entries on the path or none: the name of the
/// factor says which of the two it is.
fn add_acls(draft: &mut Draft, disks: &[OsString]) {
    if draft.says("mount-acl") {
        draft.propose("dir-acl", "1");
        return;
    }
    match why_not_off(disks) {
        None if !draft.varies("dir-acl") => {
            add(draft, "mount-acl=on,off");
            draft.propose("dir-acl", "1");
        }
        why => {
            let entries = draft.value("dir-acl").unwrap_or_else(|| "1".into());
            draft.forget("dir-acl");
            add(draft, &format!("dir-acl=0,{entries}"));
            let why = why.map_or_else(String::new, |why| format!(" ({why})"));
            draft.remark(format!(
                "the ACL factor is dir-acl, entries on the path against none, not mount-acl{why}"
            ));
        }
    }
}

/// Why ACLs cannot be switched off on one of the disks. Looks at the table of mounts and asks no
/// disk: one may hang.
fn why_not_off(arguments: &[OsString]) -> Option<String> {
    let table = mounts().ok()?;
    let paths = disks::expand(arguments).ok()?;
    paths.iter().find_map(|path| {
        let path = std::path::absolute(path).ok()?;
        noacl::check(mount_above(&table, &path)?).err().map(|error| error.to_string())
    })
}

/// The last mount of those nearest above a path.
fn mount_above<'t>(table: &'t [MountFacts], path: &Path) -> Option<&'t MountFacts> {
    let above = table.iter().filter(|mount| path.starts_with(&mount.mount_point));
    above.max_by_key(|mount| mount.mount_point.components().count())
}

/// CPUs 1, 2, 4 ... up to all of them, unless clients or threads are to grow.
fn scaling(draft: &mut Draft) {
    if ["cpus", "clients", "threads-per-disk"].iter().any(|name| draft.varies(name)) {
        return;
    }
    let cpus = limits::affinity().unwrap_or_default();
    let text = cpu_levels(&cpus);
    if text.contains(';') {
        add(draft, &format!("cpus={text}"));
        // Each CPU has something to do, however many disks there are.
        draft.propose("clients", &cpus.len().max(4).to_string());
    } else {
        draft.remark("there is one CPU: nothing to scale over");
    }
}

/// `0;0-1;0-3`.
fn cpu_levels(cpus: &[usize]) -> String {
    let mut counts: Vec<usize> = Vec::new();
    let mut count = 1;
    while count < cpus.len() {
        counts.push(count);
        count *= 2;
    }
    counts.push(cpus.len());
    let level = |count: &usize| ranges(&cpus[..(*count).min(cpus.len())]);
    counts.iter().map(level).collect::<Vec<_>>().join(";")
}

/// `0-3,6`.
fn ranges(cpus: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for cpu in cpus {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *cpu => *last = *cpu,
            _ => parts.push((*cpu, *cpu)),
        }
    }
    let one = |(from, to): &(usize, usize)| match from == to {
        true => from.to_string(),
        false => format!("{from}-{to}"),
    };
    parts.iter().map(one).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_double() {
        let cpus = |n: usize| (0..n).collect::<Vec<_>>();
        assert_eq!(cpu_levels(&cpus(1)), "0");
        assert_eq!(cpu_levels(&cpus(2)), "0;0-1");
        assert_eq!(cpu_levels(&cpus(6)), "0;0-1;0-3;0-5");
        assert_eq!(cpu_levels(&[0, 2, 3, 8]), "0;0,2;0,2-3,8");
    }
}
