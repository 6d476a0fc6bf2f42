//! Run directories and pools: the first things that a run makes.

use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, mpsc};

use rustix::fs::{Mode, OFlags, XattrFlags};
use rustix::io::Errno;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::ask::{Answers, ask_all, no_answer};
use super::direct;
use super::live::{Held, LiveDisk};
use super::phases;
use super::pools::Pools;
use super::prepare::{LeftOut, ReadyDisk};
use super::{RunError, RunRequest, Straggler};
use crate::engine::{DOS_ATTRIBUTE, Watch};
use crate::front::{FromWorker, Link, MadeTree};
use crate::host::tree::{RunTree, TreeSpec, acting_as};
use crate::output::Status;
use crate::pool::{self, CLOSED_FILE, DiskJob, Event, Gate};

/// The run directories.
pub(super) struct Made {
    pub(super) trees: Vec<Held>,
    pub(super) left_out: Vec<LeftOut>,
    /// Those that are gone again, of which the front process is still to be told.
    pub(super) undone: Vec<MadeTree>,
}

/// Makes the run directory of every disk, telling the front process of each; a disk that cannot
/// be used after all is left out. After an error none of them is left.
pub(super) async fn make_trees(
    request: &RunRequest,
    spec: &TreeSpec,
    run_id: &str,
    disks: Vec<ReadyDisk>,
    link: &mut Link,
    stragglers: &mut Vec<Straggler>,
) -> Result<Made, RunError> {
    let mut made = make_each(request, spec, run_id, disks, link, stragglers).await?;
    let checked = if request.load.direct { direct::check(&mut made, stragglers) } else { Ok(()) };
    if checked.is_err() {
        for held in std::mem::take(&mut made.trees) {
            let _ = held.tree.remove();
            made.undone.push(held.made);
        }
    }
    for told in made.undone.drain(..) {
        link.send(&FromWorker::Removed(told)).await;
    }
    checked.map(|()| made)
}

async fn make_each(
    request: &RunRequest,
    spec: &TreeSpec,
    run_id: &str,
    disks: Vec<ReadyDisk>,
    link: &mut Link,
    stragglers: &mut Vec<Straggler>,
) -> Result<Made, RunError> {
    let questions = disks.iter().enumerate().map(|(index, disk)| {
        // Two disks may be one directory under two names: no two trees are called the same.
        let (path, name) = (disk.check.label.clone(), format!("{run_id}-{index}"));
        let shared = disk.programs.iter().any(|program| program.shared);
        let (spec, maker) = (TreeSpec { shared, ..spec.clone() }, disk.check.maker.clone());
        move || RunTree::create_as(maker.as_ref(), &path, &name, &spec)
    });
    let Answers { in_time: trees, late } = ask_all(questions)?;
    let (mut made, mut left_out) = (Vec::new(), Vec::new());
    for (disk, tree) in disks.into_iter().zip(trees) {
        let label = disk.label();
        let leave = |status, errno: Option<Errno>, reason: String| LeftOut {
            label: label.clone(),
            status,
            errno: errno.map(|errno| crate::host::errno::name(errno).to_string()),
            reason,
        };
        let tree = match tree {
            Some(Ok(tree)) => tree,
            Some(Err(error)) => {
                left_out.push(leave(Status::Skipped, error.errno(), error.to_string()));
                continue;
            }
            None => {
                left_out.push(leave(Status::Hung, None, no_answer()));
                continue;
            }
        };
        let told = told(&tree);
        link.send(&FromWorker::Made(told.clone())).await;
        if let Err((errno, reason)) = probe(request, &tree) {
            left_out.push(leave(Status::Skipped, errno, reason));
            let _ = tree.remove();
            link.send(&FromWorker::Removed(told)).await;
            continue;
        }
        made.push(Held { ready: disk, tree, made: told });
    }
    if left_out.iter().any(|out| out.status == Status::Hung) {
        stragglers.push(Straggler(Box::new(move || {
            for (_, tree) in late {
                let _ = tree.map(RunTree::remove);
            }
        })));
    }
    Ok(Made { trees: made, left_out, undone: Vec::new() })
}

fn told(tree: &RunTree) -> MadeTree {
    MadeTree {
        disk: tree.disk_path().as_os_str().as_bytes().to_vec(),
        name: tree.name().as_bytes().to_vec(),
        dev: tree.dev(),
        ino: tree.ino(),
        maker: tree.maker().map(|maker| (maker.uid, maker.gid)),
    }
}

/// Tries what not every file system can.
fn probe(request: &RunRequest, tree: &RunTree) -> Result<(), (Option<Errno>, String)> {
    if !request.load.xattr {
        return Ok(());
    }
    let root = tree.root_fd();
    let tried = acting_as(tree.maker(), || {
        rustix::fs::fsetxattr(root, DOS_ATTRIBUTE, b"probe", XattrFlags::empty())
            .and_then(|()| rustix::fs::fremovexattr(root, DOS_ATTRIBUTE))
    });
    tried.map_err(|error| (error.errno(), error.to_string()))?.map_err(|errno| {
        let why = crate::host::errno::describe(errno);
        (Some(errno), format!("--xattr needs user attributes: {why}"))
    })
}

/// Makes the file that threads must not be able to open once they have given up being root. Where
/// root is nobody it could not be root's.
pub(super) fn make_closed_files(trees: &[Held]) -> Result<(), RunError> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    for Held { ready, tree, .. } in trees.iter().filter(|held| held.tree.maker().is_none()) {
        let beside = rustix::fs::openat(tree.root_fd(), format!("../{CLOSED_FILE}"), flags, mode);
        let twins = tree.twin().and_then(|twin| twin.dirs.last());
        let twins = twins.map(|dir| rustix::fs::open(dir.join(CLOSED_FILE), flags, mode));
        beside.and_then(|_| twins.transpose()).map_err(|errno| {
            let why = crate::host::errno::describe(errno);
            RunError::cannot(format!("{}: cannot make a file of root's: {why}", ready.label()))
        })?;
    }
    Ok(())
}

/// Starts the pools of all disks.
pub(super) fn start_pools(
    request: &RunRequest,
    pools: &Pools,
    trees: Vec<Held>,
    gate: &Arc<Gate>,
    events: &mpsc::Sender<Event>,
) -> Result<Vec<LiveDisk>, RunError> {
    let load = Arc::new(request.load.clone());
    let no_thread = |error| RunError::cannot(format!("cannot start a thread: {error}"));
    let watch = match pools.has_stand_ins(request.clients) {
        true => Some(Watch::start().map_err(no_thread)?),
        false => None,
    };
    let barrier = phases::barrier(&trees, request.clients, pools.threads).map(Arc::new);
    let mut live = Vec::new();
    for (number, held) in trees.into_iter().enumerate() {
        let Held { ready, tree, .. } = &held;
        let job = DiskJob {
            disk: number as u32,
            root: tree.root_path().to_owned(),
            root_id: tree.root_id(),
            programs: ready.programs.clone(),
            clients: request.clients,
            threads: pools.threads,
            engine: pools.engine,
            in_memory: ready.in_memory(),
            caller: pools.caller.clone(),
            twin: tree.twin().map(|twin| twin.root_path.clone()),
            has_closed_file: pools.drops_root() && tree.maker().is_none(),
            load: Arc::clone(&load),
            keep_passes: request.pass_rows,
            barrier: barrier.clone(),
            own_counters: request.dbench.as_ref().is_some_and(|dbench| dbench.per_client),
        };
        let state =
            pool::start(job, Arc::clone(gate), watch.clone(), events.clone()).map_err(no_thread)?;
        live.push(LiveDisk::new(number as u32, held, state, request.clients));
    }
    Ok(live)
}

/// A channel from pool threads to the event loop. In between stands a thread that still has the
/// process's descriptors, by which the loop is woken.
pub(super) fn event_channel() -> Result<(mpsc::Sender<Event>, UnboundedReceiver<Event>), RunError> {
    let (pools, inbox) = mpsc::channel();
    let (forward, events) = unbounded_channel();
    let pass_on = move || {
        for event in inbox {
            if forward.send(event).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new()
        .name("events".into())
        .spawn(pass_on)
        .map_err(|error| RunError::cannot(format!("cannot start a thread: {error}")))?;
    Ok((pools, events))
}
