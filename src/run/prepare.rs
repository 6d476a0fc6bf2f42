//! Before anything is touched: loadfiles, disks, limits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use super::pools::Pools;
use super::{RunError, RunRequest, Straggler};
use crate::host::device::{DeviceFacts, Sysfs};
use crate::host::disks;
use crate::host::preflight::{DiskCheck, Unusable, check_disk, label, mark_shared};
use crate::loadfile::program::{Action, OperandKind};
use crate::loadfile::{self, Program, check};
use crate::output::Status;
use crate::plan::PathMode;

/// How long a disk may take to answer before the load.
const ANSWER: Duration = Duration::from_secs(10);

/// A disk that can be used, and what runs on it.
#[derive(Debug)]
pub(super) struct ReadyDisk {
    /// What was found out about it.
    pub(super) check: DiskCheck,
    /// The block device below, if there is one.
    pub(super) device: Option<DeviceFacts>,
    /// Its loadfiles.
    pub(super) programs: Vec<Arc<Program>>,
    /// Whether another disk of the run is on the same file system.
    pub(super) same_fs: bool,
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
        let name = |program: &Arc<Program>| {
            let path = Path::new(&program.name);
            path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
        };
        self.programs.iter().map(name).collect::<Vec<_>>().join(",")
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
    /// Engine and threads of every disk.
    pub(super) pools: Pools,
    /// A disk that did not answer, if there is one.
    pub(super) straggler: Option<Straggler>,
}

/// Looks at everything that a request names.
pub(super) fn prepare(request: &RunRequest) -> Result<Prepared, RunError> {
    let mut warnings = Vec::new();
    let programs = Programs::load(request, &mut warnings)?;
    let arguments =
        if request.disks.is_empty() { vec![".".to_owned()] } else { request.disks.clone() };
    let paths = disks::expand(&arguments).map_err(|error| RunError::usage(error.to_string()))?;
    let assigned = programs.assign(request, &paths)?;
    let handles = assigned.iter().map(|load| load.handles).max().unwrap_or(0);
    let pools = Pools::choose(request, paths.len(), handles, &mut warnings)?;
    let buffers = assigned.iter().map(|load| load.buffer_bytes(request.clients)).sum();
    pools.check_limits(request, paths.len(), buffers, &mut warnings)?;
    let Checked { found, left_out, straggler } = check_disks(request, paths, assigned)?;
    if found.is_empty() {
        let reasons: Vec<_> =
            left_out.iter().map(|out| format!("{}: {}", out.label, out.reason)).collect();
        return Err(RunError::cannot(format!("no disk can be used\n{}", reasons.join("\n"))));
    }
    let disks = join_facts(request, found, &mut warnings)?;
    Ok(Prepared { disks, left_out, warnings, handles, pools, straggler })
}

/// The loadfiles of a disk and what they need.
#[derive(Clone, Debug)]
struct Assigned {
    programs: Vec<Arc<Program>>,
    /// Largest number of open handles of one client.
    handles: u64,
    /// Largest live data of all the disk's clients, in bytes.
    need_bytes: u64,
}

impl Assigned {
    /// Memory of so many clients' buffers, in bytes.
    fn buffer_bytes(&self, clients: u32) -> u64 {
        let largest = self.programs.iter().map(|p| p.max_read + p.max_write).max().unwrap_or(0);
        largest.saturating_add(100_000).saturating_mul(u64::from(clients))
    }
}

/// A program and what one client of it needs.
#[derive(Clone, Debug)]
struct Sized {
    program: Arc<Program>,
    handles: u64,
    live_bytes: u64,
}

/// All loadfiles of the request, each read once.
struct Programs {
    common: Vec<Sized>,
    by_disk: BTreeMap<PathBuf, Sized>,
}

impl Programs {
    fn load(request: &RunRequest, warnings: &mut Vec<String>) -> Result<Self, RunError> {
        let mut known = BTreeMap::new();
        let mut load = |file: Option<&PathBuf>| -> Result<Sized, RunError> {
            if let Some(known) = known.get(&file.cloned()) {
                return Ok(Sized::clone(known));
            }
            let sized = load_one(request, file, warnings)?;
            known.insert(file.cloned(), sized.clone());
            Ok(sized)
        };
        let common = if request.loadfiles.is_empty() {
            vec![load(None)?]
        } else {
            request.loadfiles.iter().map(|file| load(Some(file))).collect::<Result<_, _>>()?
        };
        let mut by_disk = BTreeMap::new();
        for (disk, file) in &request.load_for {
            let disk = label(Path::new(disk)).map_err(|e| RunError::usage(e.to_string()))?;
            by_disk.insert(disk, load(Some(file))?);
        }
        Ok(Self { common, by_disk })
    }

    fn assign(&self, request: &RunRequest, disks: &[PathBuf]) -> Result<Vec<Assigned>, RunError> {
        let labels: Vec<PathBuf> = disks
            .iter()
            .map(|disk| label(disk).map_err(|e| RunError::usage(e.to_string())))
            .collect::<Result<_, _>>()?;
        if let Some(stranger) = self.by_disk.keys().find(|disk| !labels.contains(disk)) {
            let stranger = stranger.display();
            return Err(RunError::usage(format!(
                "--load-for {stranger}: no such DISK in this run"
            )));
        }
        let assign = |label| {
            let own = self.by_disk.get(label).map(std::slice::from_ref);
            let loads = own.unwrap_or(&self.common);
            let live = |client: u32| loads[client as usize % loads.len()].live_bytes;
            Assigned {
                programs: loads.iter().map(|load| Arc::clone(&load.program)).collect(),
                handles: loads.iter().map(|load| load.handles).max().unwrap_or(0),
                need_bytes: (0..request.clients).map(live).fold(0, u64::saturating_add),
            }
        };
        Ok(labels.iter().map(assign).collect())
    }
}

fn load_one(
    request: &RunRequest,
    file: Option<&PathBuf>,
    warnings: &mut Vec<String>,
) -> Result<Sized, RunError> {
    let options = loadfile::Options { lenient: request.lenient };
    let loaded = match file {
        None => loadfile::embedded(),
        Some(file) => loadfile::load(file, &options),
    };
    let loaded = loaded.map_err(|error| RunError::usage(error.to_string()))?;
    if loaded.skipped_lines > 0 {
        let name = &loaded.program.name;
        warnings.push(format!("{name}: {} bad lines skipped (--lenient)", loaded.skipped_lines));
    }
    refuse_unbuilt(&loaded.program)?;
    refuse_missing_clients(&loaded.program, request.clients)?;
    let report = check::check(&loaded.program);
    Ok(Sized {
        handles: report.open_handles_max,
        live_bytes: report.live_bytes_max,
        program: Arc::new(loaded.program),
    })
}

fn refuse_unbuilt(program: &Program) -> Result<(), RunError> {
    match program.reserved.first() {
        None => Ok(()),
        Some(word) => Err(RunError::usage(format!(
            "{}:{}: {} is a word of the language that this version cannot run yet",
            program.name, word.line, word.word
        ))),
    }
}

/// A WAITSP for a client that the disk does not have would wait for ever.
fn refuse_missing_clients(program: &Program, clients: u32) -> Result<(), RunError> {
    for inst in &program.insts {
        if let Action::WaitSp { child, .. } = inst.action
            && let OperandKind::Literal(child) = child.kind()
            && !(0..i64::from(clients)).contains(&child)
        {
            return Err(RunError::usage(format!(
                "{}:{}: WAITSP waits for client {child}, but a disk has clients 0 to {}; \
                 use --clients {}",
                program.name,
                inst.line,
                clients - 1,
                child.saturating_add(1)
            )));
        }
    }
    Ok(())
}

/// What was found out about the disks.
struct Checked {
    found: Vec<(DiskCheck, Assigned)>,
    left_out: Vec<LeftOut>,
    straggler: Option<Straggler>,
}

/// Asks all disks at once; one that does not answer is left out, and its thread with it.
fn check_disks(
    request: &RunRequest,
    paths: Vec<PathBuf>,
    assigned: Vec<Assigned>,
) -> Result<Checked, RunError> {
    let (sender, answers) = mpsc::channel();
    for (index, (path, load)) in paths.iter().zip(&assigned).enumerate() {
        let (sender, path, need) = (sender.clone(), path.clone(), load.need_bytes);
        let ask = move || {
            let _ = sender.send((index, check_disk(&path, need)));
        };
        std::thread::Builder::new()
            .spawn(ask)
            .map_err(|error| RunError::cannot(format!("cannot start a thread: {error}")))?;
    }
    drop(sender);
    let mut found: Vec<Option<DiskCheck>> = paths.iter().map(|_| None).collect();
    let deadline = Instant::now() + ANSWER;
    while let Ok((index, answer)) =
        answers.recv_timeout(deadline.saturating_duration_since(Instant::now()))
    {
        found[index] = Some(answer.map_err(|error| RunError::usage(error.to_string()))?);
    }
    let (mut usable, mut left_out) = (Vec::new(), Vec::new());
    for ((path, check), load) in paths.iter().zip(found).zip(assigned) {
        match check {
            None => left_out.push(LeftOut {
                label: label(path).unwrap_or_else(|_| path.clone()).display().to_string(),
                status: Status::Hung,
                errno: None,
                reason: format!("does not answer within {} s", ANSWER.as_secs()),
            }),
            Some(check) => match left_out_of(&check) {
                Some(out) => left_out.push(out),
                None => usable.push((check, load)),
            },
        }
    }
    if request.load.path == PathMode::Absolute {
        refuse_unsafe_parents(&usable)?;
    }
    // A late answer has removed its own probe: it only has to be waited for.
    let hangs = left_out.iter().any(|out| out.status == Status::Hung);
    let straggler = hangs.then(|| Straggler(Box::new(move || while answers.recv().is_ok() {})));
    Ok(Checked { found: usable, left_out, straggler })
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
            "{}: {parent}; as root, absolute paths through it are not safe: use --path cwd",
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
        programs: load.programs,
        check,
    };
    Ok(checks.into_iter().zip(loads).enumerate().map(ready).collect())
}

/// What is unusual about where the disks are.
fn complaints(checks: &[DiskCheck]) -> Vec<String> {
    let mut lines = Vec::new();
    for check in checks {
        let label = check.label.display();
        if let Some(mount) = check.mount.as_ref().filter(|mount| !mount.is_mount_point) {
            let mount_point = mount.mount_point.display();
            lines.push(format!("{label} is not a mount point: it lies on {mount_point}"));
        }
        if let Some(other) = check.same_fs_as {
            let other = checks[other].label.display();
            lines.push(format!("{label} and {other} are on the same file system"));
        }
    }
    lines
}
