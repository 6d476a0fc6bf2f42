//! Loads that the program carries with it, and what a name on the command line stands for.

use std::io;
use std::path::Path;

use super::error::LoadError;
use super::source::{MAX_BYTES, Source};

/// Name of the load that is used when none is named.
pub const DEFAULT: &str = "default";

/// A load that is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// What it is called on the command line and in results.
    pub name: &'static str,
    /// Its file, as it is: text, or text compressed with gzip.
    pub text: &'static [u8],
}

/// All of them, the default one first: the files of `loadfiles/`.
pub const BUILTINS: &[Builtin] = &[
    Builtin { name: DEFAULT, text: include_bytes!("../../loadfiles/default.load") },
    Builtin { name: "small", text: include_bytes!("../../loadfiles/small.load") },
    Builtin { name: "randread", text: include_bytes!("../../loadfiles/randread.load") },
    Builtin { name: "randwrite", text: include_bytes!("../../loadfiles/randwrite.load") },
    Builtin { name: "seqread", text: include_bytes!("../../loadfiles/seqread.load") },
    Builtin { name: "seqwrite", text: include_bytes!("../../loadfiles/seqwrite.load") },
    Builtin { name: "pathwalk", text: include_bytes!("../../loadfiles/pathwalk.load") },
    Builtin {
        name: "pathwalk-shared-dir",
        text: include_bytes!("../../loadfiles/pathwalk-shared-dir.load"),
    },
    Builtin {
        name: "pathwalk-shared-file",
        text: include_bytes!("../../loadfiles/pathwalk-shared-file.load"),
    },
    Builtin { name: "kbuild", text: include_bytes!("../../loadfiles/kbuild.load.gz") },
];

/// The names, for messages.
#[must_use]
pub fn names() -> String {
    BUILTINS.iter().map(|load| load.name).collect::<Vec<_>>().join(", ")
}

/// The load of a name.
#[must_use]
pub fn builtin(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|load| load.name == name)
}

/// The text that a path stands for: the file, or, for a name without a slash that is no file
/// here, the built-in load. Without a path it is the default load, whatever lies here.
///
/// # Errors
/// When the file cannot be read; where it does not exist and could have been a name, the error
/// lists the names.
pub fn find(path: Option<&Path>) -> Result<Source, LoadError> {
    let Some(path) = path else { return BUILTINS[0].source() };
    let name = path.to_str().filter(|name| !name.contains('/'));
    if let Some(load) = name.and_then(builtin)
        && (!path.exists() || path.is_dir())
    {
        return load.source();
    }
    match Source::read(path) {
        Err(LoadError::Read { file, source })
            if name.is_some() && source.kind() == io::ErrorKind::NotFound =>
        {
            Err(LoadError::Unknown { file, names: names() })
        }
        other => other,
    }
}

impl Builtin {
    /// Its text, inflated, under its name.
    ///
    /// # Errors
    /// None, as long as the file that was built in is not damaged.
    pub fn source(&self) -> Result<Source, LoadError> {
        Source::from_bytes(self.name, self.text.to_vec(), MAX_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The directory of loadfiles, not the table, says what there is.
    #[test]
    fn every_file_of_the_directory_is_built_in() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("loadfiles");
        let mut files: Vec<_> =
            std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
        files.retain(|path| path.is_file()); // presets keep theirs in directories
        let mut known: Vec<_> = BUILTINS.iter().map(|load| load.name).collect();
        known.sort_unstable();
        let name = |file: &std::path::PathBuf| {
            let name = file.file_name().unwrap().to_str().unwrap();
            let name = name.strip_suffix(".gz").unwrap_or(name);
            name.strip_suffix(".load").unwrap().to_owned()
        };
        let mut names: Vec<_> = files.iter().map(name).collect();
        names.sort();
        assert_eq!(names, known);
        for file in &files {
            assert_eq!(builtin(&name(file)).unwrap().text, std::fs::read(file).unwrap());
        }
    }

    #[test]
    fn without_a_name_it_is_the_default() {
        assert_eq!(find(None).unwrap().name, DEFAULT);
    }

    #[test]
    fn a_name_is_no_path() {
        let find = |name| find(Some(Path::new(name)));
        assert_eq!(find("randread").unwrap().name, "randread");
        let slash = find("./randread").unwrap_err().to_string();
        assert!(slash.contains("cannot read") && !slash.contains("built-in"), "{slash}");
        let unknown = find("ranread").unwrap_err().to_string();
        assert!(
            unknown.contains("ranread") && unknown.contains("randread, randwrite"),
            "{unknown}"
        );
    }
}
