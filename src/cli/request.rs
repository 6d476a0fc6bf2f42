//! From what was typed to a request: the checks that need no look at the machine.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use super::args::{
    CallArgs, DataArg, EngineArg, FormatArg, LoadArgs, PathArg, ProgressArg, RunArgs, ShareArg,
};
use super::conditions::DEPTH;
use crate::output::{Format, Mode};
use crate::plan::{Data, EngineKind, Load, PathMode, Share, Timing};
use crate::run::{AclCache, Conditions, DEFAULT_TIME, RunRequest, default_warmup};

/// Shorter intervals would leave no time for the load.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);
/// Rates outside make no schedule that a clock of nanoseconds could keep.
const RATES: std::ops::RangeInclusive<f64> = 0.001..=1e9;

/// Weights of loads in a mix.
const MIX_WEIGHTS: std::ops::RangeInclusive<u32> = 1..=1000;

/// Builds the request of `run`, or says what is wrong with the arguments.
pub(super) fn run_request(args: RunArgs) -> Result<RunRequest, String> {
    let RunArgs { disks, preset, load, length, result, calls, conditions, safety } = args;
    let conditions = conditions.conditions()?;
    let preset = preset.preset();
    let time = length.time.or(length.passes.is_none().then_some(DEFAULT_TIME));
    if time == Some(Duration::ZERO) {
        return Err("--time 0: a run needs a measured time, such as 10s, or --passes".into());
    }
    if (Duration::from_nanos(1)..SHORTEST_INTERVAL).contains(&result.interval) {
        return Err("--interval: the shortest is 1ms; 0 for none".into());
    }
    refuse_half_cold(&calls, &conditions)?;
    // With passes alone every pass counts, the first one too.
    let default = match (length.passes, preset) {
        (Some(_), _) => Duration::ZERO,
        (None, Some(_)) => default_warmup(time).min(Duration::from_secs(1)),
        (None, None) => default_warmup(time),
    };
    Ok(RunRequest {
        disks,
        load_for: load.load_for.iter().map(|text| load_for(text)).collect::<Result<_, _>>()?,
        clients: load.clients,
        engine: engine(&calls)?,
        threads_per_disk: calls.threads_per_disk,
        load: load_of(&load, length.passes, &calls)?,
        mix: load.mix.iter().map(|(_, weight)| *weight).collect(),
        loadfiles: match load.mix.is_empty() {
            true => load.loadfile,
            false => load.mix.into_iter().map(|(file, _)| file).collect(),
        },
        set: given(load.set)?,
        time,
        warmup: length.warmup.unwrap_or(default),
        // An operation needs a moment to come back even when all is well.
        hang_after: length.hang_after,
        grace: length.grace.max(Duration::from_millis(100)),
        interval: Some(result.interval).filter(|interval| !interval.is_zero()),
        interval_ops: result.interval_ops,
        pass_rows: result.pass_rows,
        hist: result.hist,
        out: result.out,
        append: result.append,
        format: result.format.map(|format| match format {
            FormatArg::Csv => Format::Csv,
            FormatArg::Json => Format::Json,
        }),
        label: result.label,
        progress: match result.progress {
            ProgressArg::Auto => Mode::Auto,
            ProgressArg::Plain => Mode::Plain,
            ProgressArg::None => Mode::None,
        },
        depth: calls.depth.unwrap_or(if conditions.dirs.is_some() { DEPTH } else { 0 }),
        conditions,
        lenient: load.lenient,
        dry_run: safety.dry_run,
        require_mounts: safety.require_mounts,
        keep: safety.keep,
        preset,
        dbench: None,
    })
}

/// What `--acl-cache cold` makes no sense with.
fn refuse_half_cold(calls: &CallArgs, conditions: &Conditions) -> Result<(), String> {
    let cold = conditions.acl_cache == AclCache::Cold;
    if cold && calls.path != PathArg::Absolute {
        return Err("--acl-cache cold: only absolute paths lead through the directories that are \
                    cold; leave --path out"
            .into());
    }
    if cold && calls.depth == Some(0) {
        return Err("--acl-cache cold: without directories on the path nothing is cold; use \
                    --depth 1 or more"
            .into());
    }
    Ok(())
}

fn engine(calls: &CallArgs) -> Result<EngineKind, String> {
    match calls.engine {
        EngineArg::Sync if calls.threads_per_disk.is_some() => {
            Err("--threads-per-disk: --engine sync has a thread for each client".into())
        }
        EngineArg::Sync => Ok(EngineKind::Sync),
        EngineArg::Hybrid => Ok(EngineKind::Hybrid),
        EngineArg::Uring => Ok(EngineKind::Uring),
    }
}

fn load_of(load: &LoadArgs, passes: Option<u64>, calls: &CallArgs) -> Result<Load, String> {
    if let Some(rate) = load.rate.filter(|rate| !RATES.contains(rate)) {
        return Err(format!("--rate {rate}: expected operations per second, 0.001 to 1e9"));
    }
    Ok(Load {
        sync_open: calls.sync_open,
        sync_dir: calls.sync_dir,
        fsync: calls.fsync,
        datasync: false,
        xattr: calls.xattr,
        resolve: !calls.no_resolve,
        fake_io: calls.fake_io,
        direct: calls.direct,
        data: match load.data {
            DataArg::Random => Data::Random,
            DataArg::Zero => Data::Zero,
        },
        timing: timing(&load.timestamps)?,
        rate: load.rate,
        passes,
        routes: super::route::routes(calls)?,
        path: match calls.path {
            PathArg::Absolute => PathMode::Absolute,
            PathArg::Cwd => PathMode::Cwd,
            PathArg::Dirfd => PathMode::Dirfd,
        },
        share: Share {
            cred: calls.share.contains(&ShareArg::Cred),
            fd: calls.share.contains(&ShareArg::Fd),
            fs: calls.share.contains(&ShareArg::Fs),
        },
        cpus: calls.cpus.as_deref().map(cpu_list).transpose()?.unwrap_or_default(),
        seed: load.seed,
        spin_ns: u64::try_from(calls.spin.as_nanos()).unwrap_or(u64::MAX),
    })
}

/// Reads `FILE:WEIGHT`.
pub(super) fn parse_mix(text: &str) -> Result<(PathBuf, u32), String> {
    let read = || {
        let (file, weight) = text.rsplit_once(':').filter(|(file, _)| !file.is_empty())?;
        let weight = weight.parse().ok().filter(|weight| MIX_WEIGHTS.contains(weight))?;
        Some((PathBuf::from(file), weight))
    };
    read().ok_or_else(|| {
        format!("{text}: expected FILE:WEIGHT with a weight from 1 to 1000, such as a.load:3")
    })
}

/// Values by name, in the order of names.
pub(super) fn given(mut set: Vec<(String, String)>) -> Result<Vec<(String, String)>, String> {
    set.sort();
    match set.windows(2).find(|two| two[0].0 == two[1].0) {
        Some(two) => Err(format!("--set {}: it is given twice", two[0].0)),
        None => Ok(set),
    }
}

/// Names of files need not be UTF-8.
fn load_for(text: &OsStr) -> Result<(OsString, PathBuf), String> {
    let bytes = text.as_bytes();
    bytes
        .iter()
        .position(|byte| *byte == b'=')
        .map(|at| (OsStr::from_bytes(&bytes[..at]), OsStr::from_bytes(&bytes[at + 1..])))
        .filter(|(disk, file)| !disk.is_empty() && !file.is_empty())
        .map(|(disk, file)| (disk.to_owned(), PathBuf::from(file)))
        .ok_or_else(|| format!("--load-for {}: expected DISK=FILE", text.display()))
}

fn timing(text: &str) -> Result<Timing, String> {
    match text {
        "honour" | "honor" => Ok(Timing::Honour { speed: 1.0 }),
        "ignore" => Ok(Timing::Ignore),
        speed => match speed.parse::<f64>() {
            Ok(speed) if speed.is_finite() && speed > 0.0 => Ok(Timing::Honour { speed }),
            _ => Err(format!(
                "--timestamps {text}: expected honour, ignore, or a speed above 0 (2 replays in \
                 half the time)"
            )),
        },
    }
}

/// `0,2-5` as numbers, ascending and once each.
pub(super) fn cpu_list(text: &str) -> Result<Vec<usize>, String> {
    let wrong = || format!("--cpus {text}: expected numbers and ranges, such as 0,2-5");
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let from: usize = from.trim().parse().map_err(|_| wrong())?;
        let to: usize = to.trim().parse().map_err(|_| wrong())?;
        if from > to || to > 65_535 {
            return Err(wrong());
        }
        cpus.extend(from..=to);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    use crate::cli::args::{Cli, Command};

    fn request(args: &[&str]) -> Result<RunRequest, String> {
        let all = ["jbodbench", "run"].iter().chain(args);
        match Cli::try_parse_from(all).map_err(|error| error.to_string())?.command {
            Command::Run(args) => run_request(*args),
            _ => unreachable!("run was asked for"),
        }
    }

    #[test]
    fn defaults_are_those_of_the_documentation() {
        let request = request(&[]).unwrap();
        assert_eq!(request.time, Some(Duration::from_secs(10)));
        assert_eq!(request.warmup, Duration::from_secs(2));
        assert_eq!((request.clients, request.load.seed), (4, 1));
        assert_eq!(request.load.data, Data::Random);
        assert_eq!(request.interval, Some(Duration::from_secs(1)));
    }

    #[test]
    fn passes_replace_the_time() {
        let request = request(&["--passes", "3"]).unwrap();
        assert_eq!((request.time, request.warmup), (None, Duration::ZERO));
        assert_eq!(request.load.passes, Some(3));
    }

    #[test]
    fn mixes() {
        let mix = request(&["--mix", "a:b.load:3,small:1"]).unwrap();
        assert_eq!(mix.loadfiles, ["a:b.load", "small"].map(PathBuf::from));
        assert!(mix.options_text().ends_with(" mix=3:1"), "{}", mix.options_text());
        for wrong in ["a.load", "a.load:0", "a.load:1001", ":1", "a.load:x", "a.load:1,"] {
            assert!(request(&["--mix", wrong]).is_err(), "{wrong}");
        }
        assert!(request(&["--mix", "a:1", "-l", "b"]).is_err());
    }

    #[test]
    fn lists_and_speeds() {
        assert_eq!(cpu_list("0,2-4,3"), Ok(vec![0, 2, 3, 4]));
        assert!(cpu_list("4-2").is_err() && cpu_list("x").is_err());
        assert_eq!(timing("2"), Ok(Timing::Honour { speed: 2.0 }));
        assert!(timing("fast").is_err() && timing("0").is_err());
        assert!(request(&["--load-for", "x"]).is_err());
        assert!(request(&["--time", "0"]).is_err());
        assert!(request(&["--interval", "999us"]).is_err());
        assert_eq!(request(&["--interval", "0"]).unwrap().interval, None);
        for rate in ["0", "-1", "nan", "inf", "1e-300", "1e300"] {
            assert!(request(&[&format!("--rate={rate}")]).is_err(), "{rate}");
        }
    }
}
