//! Tests of the plan that arguments make.

use clap::{CommandFactory, Parser};

use super::*;
use crate::cli::args::Command;

fn plan(arguments: &str) -> Result<Matrix, String> {
    let words: Vec<OsString> = ["jbodbench", "matrix"]
        .into_iter()
        .chain(arguments.split_whitespace())
        .map(OsString::from)
        .collect();
    match Cli::try_parse_from(&words).map_err(|error| error.to_string())?.command {
        Command::Matrix(args) => super::plan(&args, &words),
        _ => unreachable!("matrix was asked for"),
    }
}

/// Whatever `run` has can be said for all cells, or varied, or is refused with a reason.
#[test]
fn every_option_of_run_is_there() {
    let command = Cli::command();
    let (run, matrix) =
        (command.find_subcommand("run").unwrap(), command.find_subcommand("matrix").unwrap());
    for arg in run.get_arguments() {
        let Some(long) = arg.get_long().filter(|long| *long != "help") else { continue };
        let known = matrix.get_arguments().any(|other| other.get_long() == Some(long));
        let of_disks = ["together", "alone", "both", "file-size"].contains(&long);
        assert!(known != of_disks, "--{long}");
        let refused = vary::factor(&format!("{long}=a,b"), true).is_err();
        let fixed = [
            "out",
            "append",
            "format",
            "label",
            "progress",
            "dry-run",
            "require-mounts",
            "keep",
            "seed",
            "hang-after",
            "preset",
        ];
        assert_eq!(refused, fixed.contains(&long) || of_disks, "--vary {long}=a,b");
    }
}

#[test]
fn cells_are_what_run_would_do() {
    let matrix = plan(
        "--vary as=root,nobody --vary fsync=yes,no -c 3 -l a.load,b.load -t 4s --keep-groups /d /e",
    )
    .unwrap();
    let names: Vec<_> = matrix.cells.iter().map(|cell| cell.name.as_str()).collect();
    let expected =
        ["as=root;fsync=yes", "as=root;fsync=no", "as=nobody;fsync=yes", "as=nobody;fsync=no"];
    assert_eq!(names, expected);
    let cell = &matrix.cells[2].request;
    assert_eq!(cell.conditions.act_as.as_deref(), Some("nobody"));
    assert!(cell.conditions.keep_groups && cell.load.fsync && !matrix.cells[3].request.load.fsync);
    assert_eq!((cell.clients, cell.loadfiles.len(), cell.disks.len()), (3, 2, 2));
    assert_eq!(cell.warmup, Duration::from_millis(800));
    assert_eq!(cell.engine, crate::plan::EngineKind::Sync);
    assert_eq!((matrix.blocks, matrix.runs(), matrix.seed), (10, 40, 1));
}

/// Values of parameters are a factor like others, and what is given for all of them stays.
#[test]
fn parameters_can_be_varied() {
    let matrix = plan("--vary set=size=1m,size=4m --set n=2 /d").unwrap();
    let names: Vec<_> = matrix.cells.iter().map(|cell| cell.name.as_str()).collect();
    assert_eq!(names, ["set=size=1m", "set=size=4m"]);
    let pairs = |cell: usize| matrix.cells[cell].request.set.clone();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(pairs(1), [pair("n", "2"), pair("size", "4194304")]);
    let options = matrix.cells[0].request.options_text();
    assert!(options.ends_with(" set=n=2,size=1048576"), "{options}");
    let several = plan("--vary set=default;a=1,b=2 /d").unwrap();
    assert_eq!(several.cells[0].request.set, []);
    assert_eq!(several.cells[1].request.set, [pair("a", "1"), pair("b", "2")]);
    let twice = plan("--vary set=n=1,n=3 --set n=2 /d").unwrap_err();
    assert!(twice.contains("--set n: it is given twice"), "{twice}");
}

#[test]
fn values_with_commas_and_defaults() {
    let matrix = plan("--vary cpus=0;0,1;0-3 --vary rate=default,50 /d").unwrap();
    assert_eq!(matrix.factors[0].counts, Some(vec![1.0, 2.0, 4.0]));
    assert_eq!(matrix.cells[3].request.load.cpus, [0, 1]);
    let rates: Vec<_> = matrix.cells.iter().map(|cell| cell.request.load.rate).collect();
    assert_eq!(rates[..2], [None, Some(50.0)]);
    let counted = plan("--vary clients=1,2,4 /d").unwrap();
    assert_eq!(counted.factors[0].counts, Some(vec![1.0, 2.0, 4.0]));
}

#[test]
fn nonsense_is_refused_with_its_reason() {
    for (arguments, part) in [
        ("/d", "nothing varies"),
        ("--vary as /d", "expected KEY=V1,V2"),
        ("--vary as=root /d", "2 to 64 values"),
        ("--vary as=root,,nobody /d", "a value is empty"),
        ("--vary as=root,root /d", "root is there twice"),
        ("--vary colour=red,blue /d", "no option --colour"),
        ("--vary out=a,b /d", "the same for all runs"),
        ("--vary clients=1,many /d", "cell clients=many: invalid value 'many' for '--clients <N>'"),
        ("--vary clients=0,1 /d", "cell clients=0: "),
        ("--vary fsync=maybe,no /d", "expected yes or no"),
        ("--vary clients=1,2 -c 4 /d", "--clients is given, too"),
        ("--vary clients=1,2 --vary clients=3,4 /d", "given twice"),
        ("--vary timestamps=fast,ignore /d", "--timestamps fast: expected honour"),
        ("--vary threads-per-disk=1,2 /d", "--engine sync has a thread for each client"),
        ("--vary clients=1,2 --engine hybrid /d", "pin it with --route"),
        ("--vary dir-acl=default,4 /d", "cells differ in --depth"),
        ("--vary as=root,nobody --acl-match yes /d", "says more about --dir-acl"),
        ("--vary as=root,nobody --budget 10s /d", "six blocks of 2 cells do not fit"),
        ("--vary as=root,nobody --metric speed /d", "expected one of ops_per_s"),
        ("--vary as=root,nobody --metric lat_p99_us:Fly /d", "no word of loadfiles"),
        ("--vary as=root,nobody --budget 10m -t 3s /d", "cannot be used with"),
    ] {
        let error = plan(arguments).unwrap_err();
        assert!(error.contains(part), "{arguments}: {error}");
    }
}

#[test]
fn hybrid_with_a_word_about_routes_will_do() {
    for arguments in [
        "--vary clients=1,2 --engine hybrid --route inline /d",
        "--vary route=inline,ring --engine hybrid /d",
        "--vary engine=sync,hybrid /d",
    ] {
        assert!(plan(arguments).is_ok(), "{arguments}: {:?}", plan(arguments).err());
    }
}

#[test]
fn free_names_need_a_command() {
    let matrix = plan("--vary fs=ext4,xfs --prepare true /d").unwrap();
    assert!(matrix.factors[0].free);
    assert_eq!(matrix.hooks.text(), "prepare=true");
    assert_eq!(matrix.cells[1].name, "fs=xfs");
}

#[test]
fn a_budget_sets_lengths_and_blocks() {
    // As computed in src/matrix/budget.rs.
    let matrix = plan("--vary as=root,nobody --vary fsync=yes,no --budget 20m /d").unwrap();
    assert_eq!(matrix.blocks, 10);
    assert_eq!(matrix.cells[0].request.time, Some(Duration::from_millis(22_500)));
    assert_eq!(matrix.cells[0].request.warmup, Duration::from_millis(4_500));
    assert!(matrix.remarks[0].contains("10 blocks, 22.5s measured"), "{:?}", matrix.remarks);
}

#[test]
fn presets_are_on_threads_and_yield_to_what_was_said() {
    let matrix = plan("--preset permission --vary as=root,4000 -c 2 /").unwrap();
    let names: Vec<_> = matrix.factors.iter().map(|factor| factor.name.as_str()).collect();
    assert_eq!(names[..2], ["as", "dir-owner"]);
    assert!(["mount-acl", "dir-acl"].contains(&names[2]) && names.len() == 3);
    assert_eq!(matrix.factors[0].levels, ["root", "4000"]);
    for cell in &matrix.cells {
        assert_eq!(cell.request.engine, crate::plan::EngineKind::Sync);
        assert_eq!((cell.request.clients, cell.request.depth), (2, 4));
    }
    let scaling = plan("--preset scaling --vary clients=1,2,4 /d").unwrap();
    assert_eq!(scaling.factors.len(), 1);
}
