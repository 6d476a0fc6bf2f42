//! `run --preset`: a series of tests instead of a load.

use clap::{Args, ValueEnum};

use crate::run::Preset;
use crate::units::parse_size;

/// What a preset sets itself: options that say something else are refused with it.
const SET_BY_PRESET: [&str; 37] = [
    "loadfile",
    "mix",
    "set",
    "load_for",
    "clients",
    "rate",
    "timestamps",
    "data",
    "lenient",
    "passes",
    "interval_ops",
    "pass_rows",
    "engine",
    "threads_per_disk",
    "route",
    "sync_open",
    "sync_dir",
    "fsync",
    "xattr",
    "no_resolve",
    "fake_io",
    "direct",
    "path",
    "depth",
    "share",
    "spin",
    "act_as",
    "keep_groups",
    "mount_acl",
    "force",
    "dir_owner",
    "dir_mode",
    "dir_acl",
    "acl_match",
    "default_acl",
    "acl_cache",
    "drop_caches",
];

/// A series of tests.
#[derive(Debug, Args)]
#[command(next_help_heading = "Preset")]
pub(super) struct PresetArgs {
    /// A ready series of tests instead of a load
    #[arg(long, value_name = "NAME", value_enum, conflicts_with_all = SET_BY_PRESET)]
    pub(super) preset: Option<PresetArg>,
    /// All disks at once only
    #[arg(long, requires = "preset", conflicts_with_all = ["alone", "both"], hide_short_help = true)]
    pub(super) together: bool,
    /// One disk after the other only
    #[arg(long, requires = "preset", conflicts_with = "both", hide_short_help = true)]
    pub(super) alone: bool,
    /// All at once, then one after the other [default]
    #[arg(long, requires = "preset", hide_short_help = true)]
    pub(super) both: bool,
    /// The file that is read and written on each disk; more than the disk's own cache [default: 1g]
    #[arg(long, value_name = "SIZE", requires = "preset", value_parser = parse_size,
          hide_short_help = true)]
    pub(super) file_size: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PresetArg {
    /// Find the slow disk of a shelf: sequential read and write, random read, append and fdatasync,
    /// each on all disks at once and on one after the other
    Disks,
}

impl PresetArgs {
    /// What was asked for.
    pub(super) fn preset(&self) -> Option<Preset> {
        let PresetArg::Disks = self.preset?;
        Some(Preset { together: !self.alone, alone: !self.together, file_bytes: self.file_size })
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::args::Cli;

    /// What makes sense with a preset, too.
    const KEPT: [&str; 21] = [
        "disks",
        "preset",
        "together",
        "alone",
        "both",
        "file_size",
        "time",
        "warmup",
        "grace",
        "hang_after",
        "out",
        "append",
        "format",
        "label",
        "interval",
        "hist",
        "progress",
        "seed",
        "cpus",
        "dry_run",
        "require_mounts",
    ];

    fn parse(arguments: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(["jbodbench", "run"].into_iter().chain(arguments.split_whitespace()))
    }

    #[test]
    fn every_option_of_run_is_either_kept_or_refused() {
        let command = Cli::command();
        let run = command.find_subcommand("run").unwrap();
        for argument in run.get_arguments() {
            let id = argument.get_id().as_str();
            let (kept, refused) = (KEPT.contains(&id) || id == "keep", SET_BY_PRESET.contains(&id));
            assert!(kept != refused, "--{id} with --preset: say which in src/cli/preset.rs");
        }
    }

    #[test]
    fn conflicts_are_usage_errors() {
        for extra in ["-l x", "-c 8", "--rate 5", "--passes 2", "--engine sync", "--direct", "-x"] {
            let error = parse(&format!("--preset disks {extra} /d")).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{extra}");
            assert!(error.to_string().contains("cannot be used with"), "{error}");
        }
        assert!(parse("--together /d").is_err(), "without a preset");
        assert!(parse("--preset disks --together --alone /d").is_err());
        assert!(parse("--preset shelves /d").is_err());
        assert!(parse("--preset disks -t 3s --seed 4 --cpus 0 --keep --label x /d").is_ok());
    }

    #[test]
    fn ways() {
        let of = |arguments: &str| match parse(arguments).unwrap().command {
            crate::cli::args::Command::Run(run) => run.preset.preset(),
            _ => unreachable!("run was asked for"),
        };
        let preset = |together, alone, file_bytes| Some(Preset { together, alone, file_bytes });
        assert_eq!(of("/d"), None);
        assert_eq!(of("--preset disks /d"), preset(true, true, None));
        assert_eq!(of("--preset disks --both /d"), preset(true, true, None));
        assert_eq!(of("--preset disks --alone /d"), preset(false, true, None));
        assert_eq!(
            of("--preset disks --together --file-size 64m /d"),
            preset(true, false, Some(64 << 20))
        );
    }
}
