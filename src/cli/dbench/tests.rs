use clap::Parser;

use super::*;
use crate::cli::args::{Cli, Command};
use crate::plan::Data;
use crate::run::RunRequest;

/// Words behind the name `dbench`, apart by blanks; a loadfile is given last.
fn asked(words: &str) -> Result<RunRequest, String> {
    let words = format!("/opt/x/dbench {words} -c default");
    let args: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
    match Cli::try_parse_from(with_its_name(&args).iter())
        .map_err(|error| error.to_string())?
        .command
    {
        Command::Dbench(args) => request(*args),
        _ => unreachable!("dbench was asked for"),
    }
}

#[test]
fn only_the_whole_name_counts() {
    let is = |name: &str| with_its_name(&[name.into(), "run".into()]).len() == 3;
    assert!(is("dbench") && is("/usr/local/bin/dbench"));
    assert!(
        !is("jbodbench") && !is("/usr/bin/jbodbench") && !is("dbench/jbodbench") && !is("tbench")
    );
}

#[test]
fn defaults_are_dbenchs() {
    let request = asked("4").unwrap();
    let dbench = request.dbench.unwrap();
    assert_eq!((dbench.limit.as_secs(), dbench.warmup.as_secs()), (600, 120));
    assert_eq!((request.clients, dbench.processes), (4, 4));
    assert_eq!(request.time.unwrap().as_secs(), 720);
    assert_eq!(request.disks, ["."]);
    assert_eq!(request.load.data, Data::Zero);
    assert!(request.load.resolve && !request.load.sync_open && !request.keep);
    assert!(!dbench.format.long_names && !dbench.format.machine);
}

#[test]
fn options_stand_anywhere_and_may_be_glued() {
    for words in [
        "-S -t 30 2 -D /mnt",
        "2 -SD/mnt -t30",
        "-t=30 -D=/mnt 2 --sync-dir",
        "--timelimit=30 --directory /mnt 2 -S",
        "-t 5 -t 30 -D /a -D /mnt -S 2",
    ] {
        let request = asked(words).unwrap();
        assert_eq!(request.disks, ["/mnt"], "{words}");
        assert_eq!(request.dbench.unwrap().limit.as_secs(), 30, "{words}");
        assert!(request.load.sync_dir && request.clients == 2, "{words}");
    }
    let all = asked(
        "-sSFx --no-resolve --fake-io --skip-cleanup --per-client-results 3 \
                     --clients-per-process=2 -T SO_SNDBUF=1 --trunc-io=4",
    )
    .unwrap();
    let load = &all.load;
    assert!(load.sync_open && load.sync_dir && load.fsync && load.xattr && load.fake_io);
    assert!(!load.resolve && all.keep && all.clients == 6);
    let dbench = all.dbench.unwrap();
    assert!(dbench.per_client && dbench.processes == 3);
}

#[test]
fn options_of_dbench_5() {
    let once = asked("--run-once -B fileio 2").unwrap();
    assert_eq!((once.load.passes, once.time.unwrap().as_secs()), (Some(1), 600));
    assert!(once.dbench.unwrap().format.long_names);
    let mm = asked("--warmup 0 -t 120 --show-execute-time 1").unwrap();
    assert!(mm.pass_rows && mm.time.unwrap().as_secs() == 120);
    assert_eq!(asked("--warmup 3 -t 4 1").unwrap().time.unwrap().as_secs(), 7);
    assert_eq!(asked("--warmup=-1 -t 10 1").unwrap().time.unwrap().as_secs(), 12);
    assert!(asked("--machine-readable 1").unwrap().dbench.unwrap().format.machine);
}

/// 10 MB/s by each of 2 clients, of operations that move what those of the loadfile move on average.
#[test]
fn a_rate_in_bytes_becomes_one_in_operations() {
    let dir = tempfile::tempdir().unwrap();
    let load = dir.path().join("x.load");
    let text = "NTCreateX \"\\a\" 0x40 2 7 NT_STATUS_OK\nWriteX 7 0 3000 3000 NT_STATUS_OK\n\
                ReadX 7 0 1000 1000 NT_STATUS_OK\nClose 7 NT_STATUS_OK\n";
    std::fs::write(&load, text).unwrap();
    // 4000 bytes in 4 operations: 1000 each, so 10,000 a second and client.
    assert_eq!(rate::ops_per_s(10.0, 2, &[load], false), Ok(20_000.0));
    assert!(asked("-R 0 1").unwrap().load.rate.is_none(), "dbench's default");
    assert!(asked("-R 1.5 1").unwrap().load.rate.is_some());
    assert!(asked("-R=-1 1").unwrap_err().contains("--target-rate"));
}

#[test]
fn what_is_not_there_is_refused_with_what_to_use() {
    for (words, expected) in [
        ("-B nfs 1", "mount the server"),
        ("--backend=iscsi 1", "fio"),
        ("-Bxyz 1", "fileio"),
        ("--nfs=nfs://a/b 1", "--nfs: "),
        ("--iscsi=iscsi://a/b/1 1", "--iscsi: "),
        ("--block /dev/null 1", "--block: "),
        ("--nosuch 1", "--nosuch"),
        ("0", "0"),
        ("abc", "abc"),
        ("", "NPROCS"),
        ("-t 0 1", "0"),
        ("1000000 --clients-per-process 1000000", "at most"),
    ] {
        let error = asked(words).unwrap_err();
        assert!(error.contains(expected), "{words}: {error}");
    }
}
