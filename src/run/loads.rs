//! The loadfiles of a run: each read once, dealt to disks, and what their clients need.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::mix::deal;
use super::phases::refuse_other_phases;
use super::{RunError, RunRequest};
use crate::host::preflight::label;
use crate::loadfile::granule::Granules;
use crate::loadfile::parameters::{self, Parameter};
use crate::loadfile::program::{Action, OperandKind};
use crate::loadfile::{self, Program, builtin, check};

/// The loadfiles of a disk and what they need.
#[derive(Clone, Debug)]
pub(super) struct Assigned {
    pub(super) programs: Vec<Arc<Program>>,
    /// With `--mix`, the programs once each with their weights.
    pub(super) mix: Vec<(Arc<Program>, u32)>,
    /// With `--direct`, the boundaries that each of them needs.
    pub(super) granules: Vec<Arc<Granules>>,
    /// Largest number of open handles of one client.
    pub(super) handles: u64,
    /// Largest live data of all the disk's clients, in bytes.
    pub(super) need_bytes: u64,
}

impl Assigned {
    /// Memory of so many clients' buffers, in bytes.
    pub(super) fn buffer_bytes(&self, clients: u32) -> u64 {
        let largest = self.programs.iter().map(|p| p.max_read + p.max_write).max().unwrap_or(0);
        largest.saturating_add(100_000).saturating_mul(u64::from(clients))
    }
}

/// A program and what one client of it needs.
#[derive(Clone, Debug)]
struct Sized {
    program: Arc<Program>,
    parameters: Vec<Parameter>,
    granules: Option<Arc<Granules>>,
    handles: u64,
    /// Largest live data of one client without the files that all share, in bytes.
    own_bytes: u64,
    /// The same of these files.
    shared_bytes: u64,
}

/// All loadfiles of the request, each read once.
pub(super) struct Programs {
    common: Vec<Sized>,
    by_disk: BTreeMap<PathBuf, Sized>,
}

impl Programs {
    /// Programs that bring their data along, with one open file a client at a time.
    pub(super) fn ready(programs: &[Arc<Program>]) -> Self {
        let sized = |program| Sized {
            program: Arc::clone(program),
            parameters: Vec::new(),
            granules: None,
            handles: 1,
            own_bytes: 0,
            shared_bytes: 0,
        };
        Self { common: programs.iter().map(sized).collect(), by_disk: BTreeMap::new() }
    }

    pub(super) fn load(request: &RunRequest, warnings: &mut Vec<String>) -> Result<Self, RunError> {
        let mut known = BTreeMap::new();
        let mut load = |file: Option<&Path>| -> Result<Sized, RunError> {
            let key = file.map(Path::to_owned);
            if let Some(known) = known.get(&key) {
                return Ok(Sized::clone(known));
            }
            let sized = load_one(request, file, warnings)?;
            known.insert(key, sized.clone());
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
        let files = common.iter().chain(by_disk.values());
        let files = files.map(|load| (load.program.name.as_str(), load.parameters.as_slice()));
        parameters::refuse_strangers(&request.set, files).map_err(RunError::usage)?;
        Ok(Self { common, by_disk })
    }

    pub(super) fn assign(
        &self,
        request: &RunRequest,
        disks: &[PathBuf],
    ) -> Result<Vec<Assigned>, RunError> {
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
            let own = self.by_disk.get(label);
            let once: Vec<&Sized> =
                own.map_or_else(|| self.common.iter().collect(), |own| vec![own]);
            let weights = if own.is_some() { [].as_slice() } else { &request.mix };
            let mix = once.iter().zip(weights).map(|(load, n)| (Arc::clone(&load.program), *n));
            let loads = match weights {
                [] => once.clone(),
                weights => deal(weights).into_iter().map(|load| once[load]).collect(),
            };
            let live = |client: u32| loads[client as usize % loads.len()].own_bytes;
            let own = (0..request.clients).map(live).fold(0, u64::saturating_add);
            let shared = once.iter().map(|load| load.shared_bytes);
            Assigned {
                mix: mix.collect(),
                programs: loads.iter().map(|load| Arc::clone(&load.program)).collect(),
                granules: once.iter().filter_map(|load| load.granules.clone()).collect(),
                handles: loads.iter().map(|load| load.handles).max().unwrap_or(0),
                need_bytes: shared.fold(own, u64::saturating_add),
            }
        };
        let assigned: Vec<Assigned> = labels.iter().map(assign).collect();
        refuse_other_phases(assigned.iter().flat_map(|load| &load.programs))?;
        Ok(assigned)
    }
}

fn load_one(
    request: &RunRequest,
    file: Option<&Path>,
    warnings: &mut Vec<String>,
) -> Result<Sized, RunError> {
    let options = loadfile::Options { lenient: request.lenient };
    let wrong = |error: loadfile::LoadError| RunError::usage(error.to_string());
    let source = builtin::find(file).map_err(wrong)?;
    let applied = parameters::apply(&source, &request.set).map_err(wrong)?;
    let text = request.load.direct.then(|| applied.source.clone());
    let loaded = loadfile::load_applied(applied, &options).map_err(wrong)?;
    if loaded.skipped_lines > 0 {
        let name = &loaded.program.name;
        warnings.push(format!("{name}: {} bad lines skipped (--lenient)", loaded.skipped_lines));
    }
    refuse_missing_clients(&loaded.program, request.clients)?;
    let report = check::check(&loaded.program);
    Ok(Sized {
        granules: text.map(|text| Arc::new(Granules::of(&loaded.program, &text))),
        parameters: loaded.parameters,
        handles: report.open_handles_max,
        own_bytes: report.own_bytes_max,
        shared_bytes: report.shared_bytes_max,
        program: Arc::new(loaded.program),
    })
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
