//! The kernel as a factor. Nothing can be booted here: boots and kernels of earlier commands are
//! written into the file in place of the real ones.

use std::fs;
use std::path::Path;

use crate::common::tool::{Running, Table, assert_clean, jbodbench, temp_disk};
use crate::{cells_by_block, matrix, runs};

const SHORT: &str = "--blocks 2 -l small -t 100ms --warmup 0 --interval 0 -c 1 --idle 0";

fn here(name: &str) -> String {
    fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap().trim().to_owned()
}

/// What was measured in this boot was measured in another one.
fn move_boot(file: &Path, boot: &str, kernel: &str) {
    let text = fs::read_to_string(file).unwrap();
    let moved = text.replace(&here("random/boot_id"), boot);
    assert_ne!(text, moved);
    let old = format!(",{},", here("osrelease"));
    let lines = moved.lines().map(|line| match line.contains(&format!(",{boot},")) {
        true => line.replace(&old, &format!(",{kernel},")),
        false => line.to_owned(),
    });
    fs::write(file, lines.collect::<Vec<_>>().join("\n") + "\n").unwrap();
}

#[test]
fn three_boots_of_two_kernels() {
    let (disk, dir) = (temp_disk(), temp_disk());
    let file = dir.path().join("k.csv");
    let release = here("osrelease");
    let base = format!("--vary kernel=0.9,{release} --vary depth=0,1 --seed 2010 {SHORT}");
    let go = |how: &str| matrix(&format!("{base} {how} {}", file.display()), &[disk.path()]);
    go("-o").expect(0).says(&format!("still to come: 3 of 0.9, 2 of {release}"));
    move_boot(&file, "one", "0.9.7-old");
    // 0.9.7-old is of the level 0.9.
    go("--resume").expect(0).says(&format!("still to come: 2 of 0.9, 2 of {release}"));
    // The same boot once more: all is there, and the end is made anew.
    let before = runs(&Table::read(&file)).len();
    go("--resume").expect(0).says("goes on after 4 whole blocks");
    assert_eq!(runs(&Table::read(&file)).len(), before);
    for (boot, kernel) in
        [("two", "0.9.7-old"), ("three", "0.9.8"), ("four", &*release), ("five", &*release)]
    {
        move_boot(&file, boot, kernel);
        go("--resume").expect(0);
    }
    let table = Table::read(&file);
    // `scripts/matrix-order 2010 2 12`: blocks are counted on over the boots.
    let order = [[1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [0, 1], [1, 0], [1, 0], [0, 1]];
    let blocks = cells_by_block(&table);
    assert_eq!(blocks.len(), 12);
    for (block, cells) in blocks.iter().zip(order) {
        assert_eq!(*block, cells.map(|cell| format!("depth={cell}")));
    }
    // Effects are of the last boot alone.
    let effects = table.of("effect");
    assert!(effects.iter().all(|row| row.int("n") <= 2 && row.text("kernel") == release));
    // A seventh boot is one too many.
    move_boot(&file, "six", &release);
    let text = fs::read_to_string(&file).unwrap();
    go("--resume").expect(2).says(&format!("{release} has its 3 boots; all boots are there"));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    // Six observations, three a side: the boot is the unit.
    let mut compare = jbodbench(["compare", "--by", "kernel", "--format", "json"]);
    compare.arg(&file);
    // 0.9.7-old, 0.9.8 and this one are three kernels.
    let found = Running::start(compare).finish().expect(0);
    assert!(found.stdout.contains("kernel"), "{found}");
    let renamed = text.replace(",0.9.8,", ",0.9.7-old,");
    fs::write(&file, renamed).unwrap();
    let mut compare = jbodbench(["compare", "--by", "kernel", "--format", "json"]);
    let found = Running::start({
        compare.arg(&file);
        compare
    });
    let found: serde_json::Value = serde_json::from_str(&found.finish().expect(0).stdout).unwrap();
    let rows = found["rows"].as_array().unwrap();
    let headline: Vec<_> = rows.iter().filter(|row| row["question"] == "headline").collect();
    assert_eq!(headline.len(), 2, "a row for each cell: {headline:?}");
    for row in headline {
        assert_eq!(
            (&row["unit"], &row["n_a"], &row["n_b"]),
            (&"boot".into(), &3.into(), &3.into())
        );
    }
    assert_clean(&[disk.path()]);
}

#[test]
fn other_boots_and_kernels_are_refused() {
    let (disk, dir) = (temp_disk(), temp_disk());
    let file = dir.path().join("k.csv");
    let go = |vary: &str, how: &str| {
        matrix(&format!("{vary} {SHORT} {how} {}", file.display()), &[disk.path()])
    };
    go("--vary kernel=0.1,0.2", "-o").expect(3).says("none of them");
    assert!(!file.exists());
    go("--vary kernel=a,a", "-o").expect(2).says("a is there twice");
    // Another boot without a word about kernels.
    go("--vary depth=0,1", "-o").expect(0);
    move_boot(&file, "one", &here("osrelease"));
    go("--vary depth=0,1", "--resume").expect(2).says("measured in another boot");
    // A kernel that is no level.
    fs::remove_file(&file).unwrap();
    let vary = format!("--vary kernel={}", here("osrelease"));
    go(&vary, "-o").expect(0).says("still to come: 2 of");
    assert_eq!(runs(&Table::read(&file)).len(), 2, "one cell");
    move_boot(&file, "one", "0.9.7");
    go(&vary, "--resume").expect(2).says("under the kernel 0.9.7, which is none of");
    assert_clean(&[disk.path()]);
}
