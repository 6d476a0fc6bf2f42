//! `--direct`: what disks can do is found out, and what loadfiles ask is held against it.

use std::fs;

use crate::common::tool::{assert_clean, label, loadfile, run_on, temp_disk};
use crate::common::{LoopFs, OverlayFs, TmpFs, or_skip, skip};

const SMALL: &str = "-c 1 --passes 1 --direct";

/// A write of `len` bytes at `offset`, on line 5 of its file.
fn write_load(dir: &std::path::Path, offset: &str, len: &str) -> std::path::PathBuf {
    let lines = format!(
        "NTCreateX \"\\clients\\client1\\a\" 0x40 2 7 NT_STATUS_OK\n\
         WriteX 7 {offset} {len} {len} NT_STATUS_OK"
    );
    loadfile(dir, "w.load", &lines)
}

#[test]
fn a_loadfile_that_does_not_fit_is_told_before_anything_starts() {
    let (ext4, files) = (or_skip!(LoopFs::new("ext4", 64)), temp_disk());
    let queue = format!("/sys/block/{}/queue", ext4.device().trim_start_matches("/dev/"));
    let block = fs::read_to_string(format!("{queue}/logical_block_size")).unwrap();
    let block: u64 = block.trim().parse().unwrap();

    let (half, twice) = ((block / 2).to_string(), (2 * block).to_string());
    let load = write_load(files.path(), &half, &twice);
    let out = files.path().join("out.csv");
    let arguments = format!("{SMALL} -l {} -o {}", load.display(), out.display());
    let finished = run_on(&arguments, &[&ext4.path()]).expect(2);
    finished.says(&format!("{}:5:10: --direct: the offset {half}", load.display()));
    finished.says(&format!("no multiple of {block} bytes, as {} asks for", ext4.path().display()));
    assert!(!out.exists(), "the next try would find it taken");
    assert_clean(&[&ext4.path()]);

    let load = write_load(files.path(), "*%4096", &twice);
    let arguments = format!("{SMALL} -l {}", load.display());
    run_on(&arguments, &[&ext4.path()]).expect(2).says("the offset *%4096 need not be a multiple");

    let load = write_load(files.path(), &format!("*/{block}%1048576"), &twice);
    let arguments = format!("{SMALL} -l {}", load.display());
    let table = run_on(&arguments, &[&ext4.path()]).expect(0).table();
    let row = table.summary(label(&ext4.path()), "all");
    assert_eq!((row.int("dio_align"), row.text("direct")), (block, "1"));
    // Without --direct nothing is asked and nothing is said.
    let load = write_load(files.path(), "1", "1");
    let arguments = format!("-c 1 --passes 1 -l {}", load.display());
    let table = run_on(&arguments, &[&ext4.path()]).expect(0).table();
    assert_eq!(table.summary(label(&ext4.path()), "all").text("dio_align"), "");
    assert_clean(&[&ext4.path()]);
}

/// btrfs takes any offset, but past its blocks of 4096 bytes nothing is direct.
#[test]
fn btrfs_has_its_blocks() {
    let (btrfs, files) = (or_skip!(LoopFs::new("btrfs", 128)), temp_disk());
    let load = write_load(files.path(), "512", "4096");
    let arguments = format!("{SMALL} -l {}", load.display());
    run_on(&arguments, &[&btrfs.path()]).expect(2).says("no multiple of 4096 bytes");
    let load = write_load(files.path(), "4096", "4096");
    let arguments = format!("{SMALL} -l {}", load.display());
    run_on(&arguments, &[&btrfs.path()]).expect(0);
}

#[test]
fn a_file_system_without_direct_io_ends_the_run() {
    let (ramfs, ext4) = (or_skip!(TmpFs::ramfs()), or_skip!(LoopFs::new("ext4", 64)));
    let files = temp_disk();
    let load = write_load(files.path(), "0", "4096");
    let arguments = format!("{SMALL} -l {}", load.display());
    let finished = run_on(&arguments, &[&ext4.path(), &ramfs.path()]).expect(3);
    finished.says(&format!(
        "{}: --direct: ramfs cannot open a file with O_DIRECT: EINVAL",
        ramfs.path().display()
    ));
    finished.says("run without --direct");
    assert_eq!(finished.stdout.lines().count(), 1, "the header alone");
    assert_clean(&[&ext4.path(), &ramfs.path()]);
}

/// tmpfs takes the flag since Linux 6.6, and does nothing with it.
#[test]
fn direct_io_from_the_page_cache_is_called_so() {
    let (tmpfs, files) = (or_skip!(TmpFs::new("64m")), temp_disk());
    let overlay = or_skip!(OverlayFs::new());
    let load = write_load(files.path(), "1", "3");
    let arguments = format!("{SMALL} -l {}", load.display());
    for disk in [tmpfs.path(), overlay.path()] {
        let finished = run_on(&arguments, &[&disk]);
        if finished.code == 3 {
            finished.says("cannot open a file with O_DIRECT"); // an older kernel
            continue;
        }
        finished
            .says(&format!("{}: takes O_DIRECT and serves it from the page cache", disk.display()));
        let table = finished.expect(0).table();
        assert_eq!(table.summary(label(&disk), "all").int("dio_align"), 1);
        assert_clean(&[&disk]);
    }
}

/// Where a device lies behind them, direct reads wait in the kernel, not in the thread.
#[test]
fn direct_reads_go_through_the_ring() {
    let (ext4, files) = (or_skip!(LoopFs::new("ext4", 64)), temp_disk());
    let text = "PREPARE\nMkdir \"/clients\" *\nNTCreateX \"/clients/client1\" 0x40 2 1 *\n\
                WriteX 1 0 65536 65536 NT_STATUS_OK\nEND\n\
                NTCreateX \"/clients/client1\" 0x40 1 1 NT_STATUS_OK\nREPEAT 500\n\
                ReadX 1 */4096%65536 4096 4096 NT_STATUS_OK\n";
    let load = files.path().join("r.load");
    fs::write(&load, text).unwrap();
    for engine in ["hybrid", "uring"] {
        let arguments = format!(
            "-c 4 --passes 1 --direct --engine {engine} --threads-per-disk 1 -l {}",
            load.display()
        );
        let finished = run_on(&arguments, &[&ext4.path()]).expect(0);
        let row = finished.table().summary(label(&ext4.path()), "ReadX").clone();
        if row.text("engine") != engine {
            skip!("no io_uring here");
        }
        finished.says("read 100.0 %");
        assert_eq!(row.int("ops"), 2000);
        // The device has read it, not the page cache.
        let all = finished.table().summary(label(&ext4.path()), "all").clone();
        assert!(all.int("dev_read_bytes") >= 2000 * 4096, "{}", all.int("dev_read_bytes"));
    }
}
