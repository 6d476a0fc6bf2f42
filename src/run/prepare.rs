//! Before anything is touched: loadfiles, disks, limits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ask::{Answers, ask_all, no_answer};
use super::conditions::{Found, Resolved, refuse_cold, refuse_remounts, refuse_squashed, resolve};
use super::cpus::refuse_missing_cpus;
use super::loads::{Assigned, Programs};
use super::pools::Pools;
use super::{RunError, RunRequest, Straggler};
use crate::host::HostError;
use crate::host::clock;
use crate::host::device::{DeviceFacts, Sysfs};
use crate::host::direct::DirectIo;
use crate::host::disks;
use crate::host::preflight::{DiskCheck, Trial, Unusable, check_disk, label, mark_shared};
use crate::loadfile::Program;
use crate::loadfile::granule::Granules;
use crate::output::Status;
use crate::plan::PathMode;

/// A disk that can be used, and what runs on it.
#[derive(Debug)]
pub(super) struct ReadyDisk {
    /// What was found out about it.
    pub(super) check: DiskCheck,
    /// The block device below, if there is one.
    pub(super) device: Option<DeviceFacts>,
    /// Its loadfiles.
    pub(super) programs: Vec<Arc<Program>>,
    /// With `--mix`, its loadfiles once each with their weights.
    pub(super) mix: Vec<(Arc<Program>, u32)>,
    /// Largest live data of all its clients, in bytes.
    pub(super) need_bytes: u64,
    /// For `--direct`: on which boundaries the loadfiles read and write.
    pub(super) granules: Vec<Arc<Granules>>,
    /// For `--direct`: what the disk does; known once its run directory is made.
    pub(super) direct: Option<DirectIo>,
    /// Whether another disk of the run is on the same file system.
    pub(super) same_fs: bool,
    /// Under which conditions clients work there; known once its run directory is made.
    pub(super) found: Found,
}

impl ReadyDisk {
    /// The disk's name in all results.
    pub(super) fn label(&self) -> String {
        self.check.label.display().to_string()
    }

    /// Whether its file system lives in memory, with no device that a call could wait for.
    pub(super) fn in_memory(&self) -> bool {
        let fstype = self.check.mount.as_ref().map(|mount| mount.fstype.as_str());
        matches!(fstype, Some("tmpfs" | "ramfs" | "devtmpfs"))
    }

    /// Names of its loadfiles, without directories.
    pub(super) fn load_names(&self) -> String {
        let name = |program: &Program| {
            let path = Path::new(&program.name);
            path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
        };
        let names: Vec<_> = match self.mix.as_slice() {
            [] => self.programs.iter().map(|program| name(program)).collect(),
            mix => mix.iter().map(|(load, weight)| format!("{}:{weight}", name(load))).collect(),
        };
        names.join(",")
    }

    /// Hashes of its loadfiles, in the same order.
    pub(super) fn load_sums(&self) -> String {
        let sums: Vec<&str> = match self.mix.as_slice() {
            [] => self.programs.iter().map(|program| program.sha256.as_str()).collect(),
            mix => mix.iter().map(|(load, _)| load.sha256.as_str()).collect(),
        };
        sums.join(",")
    }
}

/// A disk that is left out.
#[derive(Debug)]
pub(super) struct LeftOut {
    pub(super) label: String,
    pub(super) status: Status,
    pub(super) errno: Option<String>,
    pub(super) reason: String,
}

/// What a run starts from.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) disks: Vec<ReadyDisk>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) warnings: Vec<String>,
    /// Handles that one client may have open, by the loadfile.
    pub(super) handles: u64,
    /// Memory of all clients' buffers, in bytes.
    pub(super) buffers: u64,
    /// Engine and threads of every disk.
    pub(super) pools: Pools,
    /// Whom clients act as, and what their directories are like.
    pub(super) resolved: Resolved,
}

/// Looks at everything that a request names. A disk that does not answer is among `stragglers`
/// then, whatever comes of the rest.
pub(super) fn prepare(
    request: &RunRequest,
    programs: &Programs,
    stragglers: &mut Vec<Straggler>,
) -> Result<Prepared, RunError> {
    let mut warnings = Vec::new();
    let arguments = if request.disks.is_empty() { vec![".".into()] } else { request.disks.clone() };
    let paths = disks::expand(&arguments).map_err(|error| RunError::usage(error.to_string()))?;
    let assigned = programs.assign(request, &paths)?;
    let handles = assigned.iter().map(|load| load.handles).max().unwrap_or(0);
    refuse_missing_cpus(&request.load.cpus)?;
    let resolved = resolve(request)?;
    warnings.extend(refuse_cold(&request.conditions)?);
    let mut pools = Pools::choose(request, paths.len(), handles, &mut warnings)?;
    let buffers = assigned.iter().map(|load| load.buffer_bytes(request.clients)).sum();
    pools.check_limits(request, paths.len(), buffers, &mut warnings)?;
    let Checked { found, left_out } = check_disks(request, &resolved, paths, assigned, stragglers)?;
    if found.is_empty() {
        let reasons: Vec<_> =
            left_out.iter().map(|out| format!("{}: {}", out.label, out.reason)).collect();
        return Err(RunError::cannot(format!("no disk can be used\n{}", reasons.join("\n"))));
    }
    warnings.extend(refuse_squashed(&request.conditions, found.iter().map(|(check, _)| check))?);
    let disks = join_facts(request, found, &mut warnings)?;
    warnings.extend(refuse_remounts(&request.conditions, &disks)?);
    warnings.extend(clock::warning(clock::read_ns(), clock::source().as_deref()));
    pools.caller.clone_from(&resolved.caller);
    Ok(Prepared { disks, left_out, warnings, handles, buffers, pools, resolved })
}

/// What was found out about the disks.
struct Checked {
    found: Vec<(DiskCheck, Assigned)>,
    left_out: Vec<LeftOut>,
}

/// Asks all disks at once; one that does not answer is left out, and its thread with it.
fn check_disks(
    request: &RunRequest,
    resolved: &Resolved,
    paths: Vec<PathBuf>,
    assigned: Vec<Assigned>,
    stragglers: &mut Vec<Straggler>,
) -> Result<Checked, RunError> {
    let trial = if request.dry_run { Trial::Ask } else { Trial::Make };
    let questions: Vec<_> = paths
        .iter()
        .zip(&assigned)
        .map(|(path, load)| {
            let (path, need) = (path.clone(), load.need_bytes);
            let who = resolved.caller.clone().filter(|_| trial == Trial::Make);
            move || {
                let mut check = check_disk(&path, need, trial)?;
                who.iter().for_each(|who| check.try_as(who));
                Ok::<_, HostError>(check)
            }
        })
        .collect();
    let Answers { in_time: found, late } = ask_all(questions)?;
    let (mut usable, mut left_out) = (Vec::new(), Vec::new());
    for ((path, check), load) in paths.iter().zip(found).zip(assigned) {
        match check.transpose().map_err(|error| RunError::usage(error.to_string()))? {
            None => left_out.push(LeftOut {
                label: label(path).unwrap_or_else(|_| path.clone()).display().to_string(),
                status: Status::Hung,
                errno: None,
                reason: no_answer(),
            }),
            Some(check) => match left_out_of(&check) {
                Some(out) => left_out.push(out),
                None => usable.push((check, load)),
            },
        }
    }
    if left_out.iter().any(|out| out.status == Status::Hung) {
        // A late answer has removed its own probe: it only has to be waited for.
        stragglers.push(Straggler(Box::new(move || while late.recv().is_ok() {})));
    }
    if request.load.path == PathMode::Absolute {
        refuse_unsafe_parents(&usable)?;
    }
    Ok(Checked { found: usable, left_out })
}

fn left_out_of(check: &DiskCheck) -> Option<LeftOut> {
    let unusable = check.unusable?;
    Some(LeftOut {
        label: check.label.display().to_string(),
        status: if unusable == Unusable::ReadOnly { Status::ReadOnly } else { Status::Skipped },
        errno: crate::errno::name(unusable.errno().raw_os_error()).map(str::to_owned),
        reason: unusable.to_string(),
    })
}

/// As root, a walk by absolute path through a directory that others can change leads where they
/// want.
fn refuse_unsafe_parents(disks: &[(DiskCheck, Assigned)]) -> Result<(), RunError> {
    match disks.iter().find_map(|(check, _)| Some((check, check.unsafe_parent.as_ref()?))) {
        None => Ok(()),
        Some((check, parent)) => Err(RunError::cannot(format!(
            "{}: as root, absolute paths are not safe here: {parent}",
            check.label.display()
        ))),
    }
}

fn join_facts(
    request: &RunRequest,
    found: Vec<(DiskCheck, Assigned)>,
    warnings: &mut Vec<String>,
) -> Result<Vec<ReadyDisk>, RunError> {
    let (mut checks, loads): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    mark_shared(&mut checks);
    add_up_needs(&mut checks, &loads);
    let shared: Vec<Option<usize>> = checks.iter().map(|check| check.same_fs_as).collect();
    let complaints = complaints(&checks);
    if request.require_mounts && !complaints.is_empty() {
        return Err(RunError::cannot(format!("--require-mounts: {}", complaints.join("\n"))));
    }
    warnings.extend(complaints);
    for check in &checks {
        if let Some(warning) = &check.space_warning {
            warnings.push(format!("{}: {warning}", check.label.display()));
        }
    }
    let sysfs = Sysfs::default();
    let ready = |(index, (check, load)): (usize, (DiskCheck, Assigned))| ReadyDisk {
        device: check.mount.as_ref().and_then(|mount| sysfs.device_of_mount(mount)),
        same_fs: shared[index].is_some() || shared.contains(&Some(index)),
        need_bytes: load.need_bytes,
        programs: load.programs,
        mix: load.mix,
        granules: load.granules,
        direct: None,
        found: Found::default(),
        check,
    };
    Ok(checks.into_iter().zip(loads).enumerate().map(ready).collect())
}

/// Disks on one file system fill it together: the first of them has the warning for all.
fn add_up_needs(checks: &mut [DiskCheck], loads: &[Assigned]) {
    let mut needs: BTreeMap<usize, u64> = BTreeMap::new();
    for (index, (check, load)) in checks.iter().zip(loads).enumerate() {
        let need = needs.entry(check.same_fs_as.unwrap_or(index)).or_default();
        *need = need.saturating_add(load.need_bytes);
    }
    for (index, check) in checks.iter_mut().enumerate() {
        let need = needs.get(&index);
        check.space_warning = need.and_then(|need| check.space?.warning(*need));
    }
}

/// What is unusual about where the disks are: a line for each file system, not for each disk.
fn complaints(checks: &[DiskCheck]) -> Vec<String> {
    let mut astray: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
    let mut shared: BTreeMap<usize, Vec<&Path>> = BTreeMap::new();
    for check in checks {
        let label = check.label.as_path();
        if let Some(mount) = check.mount.as_ref().filter(|mount| !mount.is_mount_point) {
            astray.entry(&mount.mount_point).or_default().push(label);
        }
        if let Some(first) = check.same_fs_as {
            shared.entry(first).or_insert_with(|| vec![&checks[first].label]).push(label);
        }
    }
    let mut lines = Vec::new();
    for (mount_point, disks) in astray {
        let (names, mount_point) = (names(&disks), mount_point.display());
        lines.push(match disks.len() {
            1 => format!("{names} is not a mount point: it lies on {mount_point}"),
            _ => format!("{names} are not mount points: they lie on {mount_point}"),
        });
    }
    let same = |disks: &Vec<&Path>| format!("{} are on the same file system", names(disks));
    lines.extend(shared.values().map(same));
    lines
}

/// `a`, `a and b`, `a, b, c and 9 more`.
fn names(disks: &[&Path]) -> String {
    let name = |disk: &&Path| disk.display().to_string();
    match disks {
        [one] => name(one),
        [some @ .., last] if some.len() < 3 => {
            format!("{} and {}", some.iter().map(name).collect::<Vec<_>>().join(", "), name(last))
        }
        _ => {
            let first: Vec<_> = disks.iter().take(3).map(name).collect();
            format!("{} and {} more", first.join(", "), disks.len() - first.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_disks_are_not_all_named() {
        let paths = ["/a", "/b", "/c", "/d", "/e"].map(Path::new);
        let names: Vec<_> = (1..=5).map(|n| names(&paths[..n])).collect();
        let wanted =
            ["/a", "/a and /b", "/a, /b and /c", "/a, /b, /c and 1 more", "/a, /b, /c and 2 more"];
        assert_eq!(names, wanted);
    }
}
