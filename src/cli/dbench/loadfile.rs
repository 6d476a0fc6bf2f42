//! Which loadfile is meant.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where dbench is built to look, by those who package it, and then here.
const PLACES: [&str; 7] = [
    "/usr/share/dbench/client.txt",
    "/usr/local/share/dbench/client.txt",
    "/usr/local/share/client.txt",
    "/usr/share/client.txt",
    "client.txt",
    "client.load",
    "loadfiles/client.load",
];

/// The loadfiles, and how they are named on the first line.
pub(super) fn loadfiles(given: Option<&OsStr>) -> Result<(Vec<PathBuf>, String), String> {
    let Some(given) = given else { return default(&PLACES.map(Path::new)) };
    let shown = given.display().to_string();
    // A name may have commas in it.
    if Path::new(given).exists() {
        return Ok((vec![in_this_directory(given)], shown));
    }
    let names = given.as_bytes().split(|byte| *byte == b',');
    Ok((names.map(|name| PathBuf::from(OsString::from(OsStr::from_bytes(name)))).collect(), shown))
}

fn default(places: &[&Path]) -> Result<(Vec<PathBuf>, String), String> {
    let Some(found) = places.iter().find(|place| place.is_file()) else {
        let tried: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
        return Err(format!(
            "no loadfile: looked for {}; give one with -c FILE, or take the built-in load with the same \
             mix of operations: -c default",
            tried.join(", ")
        ));
    };
    Ok((vec![in_this_directory(found.as_os_str())], found.display().to_string()))
}

/// A file of that name is meant, not the built-in load that may be called so, too.
fn in_this_directory(name: &OsStr) -> PathBuf {
    let path = PathBuf::from(name);
    if path.is_dir() || path.components().count() > 1 { path } else { Path::new(".").join(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_one_the_places_are_named() {
        let here = tempfile::tempdir().unwrap();
        let places = [here.path().join("a.txt"), here.path().join("b.txt")];
        let places = places.each_ref().map(PathBuf::as_path);
        let error = default(&places).unwrap_err();
        assert!(error.contains("a.txt") && error.contains("b.txt"), "{error}");
        assert!(error.contains("-c default"), "{error}");
        std::fs::write(places[1], "").unwrap();
        let (files, shown) = default(&places).unwrap();
        assert_eq!(
            (files.as_slice(), shown.as_str()),
            (&[places[1].into()][..], places[1].to_str().unwrap())
        );
    }

    #[test]
    fn lists_are_taken_apart_unless_the_file_is_there() {
        let files = |name: &OsStr| loadfiles(Some(name)).unwrap().0;
        assert_eq!(files("x.load,y.load".as_ref()), [PathBuf::from("x.load"), "y.load".into()]);
        assert_eq!(files("default".as_ref()), [PathBuf::from("default")]);
        let here = tempfile::tempdir().unwrap();
        let odd = here.path().join("x,y");
        std::fs::write(&odd, "").unwrap();
        assert_eq!(files(odd.as_os_str()), [odd]);
    }
}
