//! `--set`: one loadfile, other values.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::tool::{Running, jbodbench, label, one_pass, run_on, temp_disk};

const LOAD: &str = "SET size=4k\nSET files=3\nMkdir \"/clients\" NT_STATUS_OK\n\
                    Mkdir \"/clients/client1\" NT_STATUS_OK\nREPEAT ${files}\n\
                    NTCreateX \"/clients/client1/f${files}\" 0x40 2 1 NT_STATUS_OK\n\
                    WriteX 1 0 ${size} ${size} NT_STATUS_OK\nClose 1 NT_STATUS_OK";

fn loadfile(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, text).unwrap();
    path
}

fn check(arguments: &[&str]) -> crate::common::tool::Finished {
    let mut command: Command = jbodbench(["check"]);
    command.args(arguments);
    Running::start(command).finish()
}

#[test]
fn a_value_changes_what_is_done_and_what_it_is_called() {
    let files = temp_disk();
    let load = loadfile(files.path(), "p.load", LOAD);
    let table = one_pass(&load, "-c 1");
    let default = table.of("summary").into_iter().find(|row| row.text("op") == "all").unwrap();
    assert_eq!((default.int("bytes"), table.ops()["NTCreateX"]), (4096, 3));
    let table = one_pass(&load, "-c 1 --set size=1m,files=5");
    let other = table.of("summary").into_iter().find(|row| row.text("op") == "all").unwrap();
    assert_eq!((other.int("bytes"), table.ops()["NTCreateX"]), (1 << 20, 5));
    assert!(
        other.text("options").ends_with(" set=files=5,size=1048576"),
        "{}",
        other.text("options")
    );
    assert!(!default.text("options").contains("set="));
    assert!(default.text("program_sha256") != other.text("program_sha256"));
}

/// The same work has the same name, whoever wrote the numbers.
#[test]
fn the_hash_is_that_of_the_load_written_out() {
    let files = temp_disk();
    let load = loadfile(files.path(), "p.load", LOAD);
    let plain = LOAD.replace("SET size=4k\nSET files=3\n", "");
    let plain = plain.replace("${size}", "8192").replace("${files}", "7");
    let plain = loadfile(files.path(), "plain.load", &plain);
    let sum = |out: &str| out.split_whitespace().nth(2).map(str::to_owned);
    let set = check(&["--set", "size=8k,files=7", label(&load)]).expect(0).stdout;
    let written = check(&[label(&plain)]).expect(0).stdout;
    assert!(sum(&set).is_some_and(|sum| sum.len() == 64));
    assert_eq!(sum(&set), sum(&written));
    for line in
        ["--set size                8192 (default 4k)", "--set files               7 (default 3)"]
    {
        assert!(set.contains(line), "{set}");
    }
}

#[test]
fn what_cannot_be_set_is_named() {
    let (files, disk) = (temp_disk(), temp_disk());
    let load = loadfile(files.path(), "p.load", LOAD);
    let arguments = format!("-l {} --passes 1 --set foo=1", load.display());
    let finished = run_on(&arguments, &[disk.path()]).expect(2);
    finished.says("no SET line names foo");
    finished.says("size, files");
    let arguments = format!("-l {} --passes 1 --set files=none", load.display());
    let finished = run_on(&arguments, &[disk.path()]).expect(2);
    finished.says("p.load:5:8: `none` is not a count");
    check(&["--set", "size=1", "--set", "size=2", label(&load)]).expect(2).says("twice");
    // A load for one of the disks sees the values, too.
    let other = loadfile(files.path(), "q.load", "QUERY_FS_INFORMATION 1 NT_STATUS_OK\n");
    let arguments = format!(
        "-l {} --load-for {}={} --passes 1 -c 1 --set files=9",
        other.display(),
        disk.path().display(),
        load.display()
    );
    let table = run_on(&arguments, &[disk.path()]).expect(0).table();
    assert_eq!(table.ops()["NTCreateX"], 9);
}
