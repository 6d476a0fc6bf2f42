//! `POOL`: what is read, what is refused, what `check` makes of it.

use super::super::check::check;
use super::super::pool::{Order, Pick};
use super::*;
use crate::loadfile::{Source, parse_tree};

fn canonical(text: &str) -> String {
    let source = Source { name: "t".to_owned(), bytes: text.as_bytes().to_vec(), gzip: false };
    let tree = parse_tree(&source, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    tree.to_string()
}

#[test]
fn paths_draw_from_pools() {
    let program = good(
        "SET a=b\nPOOL f 100 \"\\clients\\client1\\f\"\nPOOL dirs 0x10 /clients/d rotate\nPREPARE\n\
         Mkdir \"{dirs+}\" *\nEND\nstat \"/{f}\" *\nrename {f-} \\\\{f+}.old *\nlstat {dirs=}//client1/ *\n\
         FIND_FIRST \"{dirs}/*\" 1 9 9 *\n",
    );
    let pools: Vec<_> =
        program.pools.iter().map(|pool| (&*pool.name, pool.count, pool.order)).collect();
    let expected: [(&[u8], _, _); 2] = [(b"f", 100, Order::Random), (b"dirs", 16, Order::Rotate)];
    assert_eq!(pools, expected);
    let paths: Vec<_> = (0..program.paths.len()).map(|i| path(&program, i)).collect();
    let own = "/clients/<c>/f<drawn>";
    let expected = [
        "/clients/d<drawn>",
        own,
        own,
        &format!("{own}.old"),
        "/clients/d<drawn>/<c>",
        "/clients/d<drawn>/*",
    ];
    assert_eq!(paths, expected);
    let picks: Vec<_> = program.paths.iter().map(|path| path.draw.unwrap()).collect();
    let picks: Vec<_> = picks.iter().map(|draw| (draw.pool, draw.pick)).collect();
    let expected = [
        (1, Pick::Make),
        (0, Pick::Existing),
        (0, Pick::Remove),
        (0, Pick::Make),
        (1, Pick::Last),
        (1, Pick::Existing),
    ];
    assert_eq!(picks, expected);
}

#[test]
fn the_canonical_text_names_the_pool() {
    let text = canonical(
        "POOL  f 0144 \\clients\\client1\\f random\nPOOL d 7 \"x y\"\trotate\nstat //{f}.x *\n\
         renameat2 {d-}\\a \"{d+}/b\" 0 *\n",
    );
    let expected = "POOL f 100 \"/clients/client1/f\"\nPOOL d 7 \"/x y\" rotate\nstat \"{f}.x\" *\n\
                    renameat2 \"{d-}/a\" \"{d+}/b\" 0 *\n";
    assert_eq!(text, expected);
    assert_eq!(canonical(&text), expected);
}

/// What drew from nothing before pools existed still does.
#[test]
fn a_brace_is_text_without_a_pool() {
    let program = good("stat {f} *\nstat \"/a/{f-}\" *\n");
    assert_eq!((path(&program, 0), path(&program, 1)), ("/{f}".into(), "/a/{f-}".into()));
}

#[test]
fn mistakes_have_their_place() {
    let long = "x".repeat(250);
    for (line, column, said) in [
        ("POOL", 5, "missing"),
        ("POOL g 5", 9, "missing"),
        ("POOL g 5 /a rotate 7", 20, "too much"),
        ("POOL 9 5 /a", 6, "cannot be called"),
        ("POOL g+ 5 /a", 6, "cannot be called"),
        ("POOL f 5 /a", 6, "a second POOL"),
        ("POOL g 0 /a", 8, "0"),
        ("POOL g 1000001 /a", 8, "1000001"),
        ("POOL g * /a", 8, "*"),
        ("POOL g 5 /a/", 10, "names of a pool"),
        ("POOL g 5 /", 10, "names of a pool"),
        ("POOL g 5 \"\"", 10, "empty path"),
        ("POOL g 5 /../a", 10, ".."),
        ("POOL g 5 /a/client1", 10, "client1"),
        ("POOL g 5 {f}", 10, "names of a pool"),
        ("POOL g 5 /c/f", 10, "the pool f"),
        ("POOL g 5 /c/f9", 10, "the pool f"),
        ("POOL g 5 /a any", 13, "no order"),
        ("0.5 POOL g 5 /a", 1, "timestamp"),
        (&format!("POOL g 5 /{long}"), 10, "too long"),
    ] {
        let faults = bad(&format!("POOL f 100 /c/f\n{line}\nFlush 1 *\n"));
        let found = (faults.len(), faults[0].line, faults[0].column);
        assert_eq!(found, (1, 2, column), "{line}: {faults:?}");
        assert!(faults[0].message.contains(said), "{line}: {}", faults[0].message);
    }
    for (line, column, said) in [
        ("stat {g} *", 6, "no pool `g`"),
        ("stat {f *", 6, "not closed"),
        ("stat {f*} *", 6, "no pool"),
        ("stat /a/{f} *", 6, "does not start"),
        ("stat {f}{f} *", 6, "does not start"),
        ("stat {f}/.. *", 6, ".."),
        ("rename {f-} {f-} *", 13, "twice"),
        ("renameat2 {f+} {f+}x 0 *", 16, "twice"),
        ("POOL h 5 /x", 1, "below line"),
        (&format!("stat {{f}}{long} *"), 6, "too long"),
    ] {
        let faults = bad(&format!("POOL f 100 /c/f\nFlush 1 *\n{line}\n"));
        let found = (faults.len(), faults[0].line, faults[0].column);
        assert_eq!(found, (1, 3, column), "{line}: {faults:?}");
        assert!(faults[0].message.contains(said), "{line}: {}", faults[0].message);
    }
    // Strings that draws meet are looked at with the number.
    let text = format!("POOL f 9 /c/f\nRANDOMSTRING 1 \"{}\"\nstat {{f}}$1 *\n", "y".repeat(250));
    assert_eq!(place(&text), (3, 6));
}

#[test]
fn a_pool_may_be_shared() {
    assert!(good("POOL f 5 /SHARED/f\nstat {f+} ENOENT\n").shared);
    assert!(!good("POOL f 5 /SHARED\nstat {f+} ENOENT\n").shared);
}

/// By hand: 50 names of at most 30 bytes: 10 written, 20 behind them; 5 in a file of its own that
/// 100 rounds append to.
#[test]
fn names_count_as_if_all_were_there() {
    let report = check(&good(
        "POOL f 50 /client1/f\nopen /client1/log O_WRONLY|O_CREAT|O_APPEND 0600 9 *\nLOOP 100\n\
         open {f+} O_RDWR|O_CREAT 0600 1 *\nWriteX 1 0 10 10 *\nClose 1 *\n\
         open {f} O_RDWR|O_APPEND 0600 1 *\nWriteX 1 0 20 20 *\nClose 1 *\nunlink {f-} 0 *\n\
         WriteX 9 0 5 5 *\nENDLOOP\nstat {f=} *\nstat {f}.bak *\nstat /SHARED/x *\n",
    ));
    assert_eq!((report.live_bytes_max, report.largest_file_bytes), (50 * 30 + 500, 500));
    assert_eq!((report.own_bytes_max, report.shared_bytes_max), (2000, 0));
    // The log, /SHARED/x, 50 names, 50 with .bak behind them.
    assert_eq!((report.distinct_paths, report.deepest_path), (102, 2));
    assert_eq!(report.files_not_made, 0);
    assert!(report.estimated && report.features.contains(&"POOL"));
}

/// A new version is written beside the old one, then takes its name: 20 names and 20 with `.tmp`.
#[test]
fn a_name_that_is_replaced_counts_once() {
    let report = check(&good(
        "POOL f 20 /SHARED/f\nLOOP 9\nopen {f+}.tmp O_RDWR|O_CREAT 0600 1 *\nWriteX 1 0 10 10 *\n\
         Close 1 *\nrename {f=}.tmp {f=} *\nENDLOOP\n",
    ));
    assert_eq!((report.own_bytes_max, report.shared_bytes_max), (0, 2 * 20 * 10));
}
