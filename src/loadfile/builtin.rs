//! Loads that the program carries with it, and what a name on the command line stands for.

use std::io;
use std::path::Path;

use super::error::LoadError;
use super::source::{MAX_BYTES, Source};

/// A load that is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// What it is called on the command line and in results.
    pub name: &'static str,
    /// Its file, as it is: text, or text compressed with gzip.
    pub text: &'static [u8],
}

/// The load in a file of `loadfiles/`.
macro_rules! load {
    ($name:literal) => {
        load!($name, ".load")
    };
    ($name:literal, $end:literal) => {
        Builtin { name: $name, text: include_bytes!(concat!("../../loadfiles/", $name, $end)) }
    };
}

/// All of them, the default one first: the files of `loadfiles/` and `loadfiles/public/`.
pub const BUILTINS: &[Builtin] = &[
    load!("default"),
    load!("small"),
    load!("randread"),
    load!("randwrite"),
    load!("seqread"),
    load!("seqwrite"),
    load!("pathwalk"),
    load!("pathwalk-shared-dir"),
    load!("pathwalk-shared-file"),
    load!("tiobench"),
    load!("mdtest"),
    load!("mdtest-shared"),
    load!("fdtable"),
    load!("pagecache"),
    load!("pagecache-shared"),
    load!("pagecache-private"),
    load!("varmail"),
    load!("fileserver"),
    load!("webserver"),
    load!("fsstress"),
    load!("kbuild", ".load.gz"),
    load!("public/access-0755"),
    load!("public/stat-shared"),
    load!("public/open-shared"),
    load!("public/open-close"),
    load!("public/open-negative"),
    load!("public/creat-existing"),
    load!("public/fstat-empty"),
    load!("public/create-unlink"),
    load!("public/dbench-tiny"),
    load!("aim7-shared"),
    load!("aim7-sync"),
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

/// The text that a path stands for: the file, or, for the name of a built-in load that is no file here, that
/// load. Without a path it is the default load, whatever lies here.
///
/// # Errors
/// When the file cannot be read; where it does not exist and could have been a name, the error
/// lists the names.
pub fn find(path: Option<&Path>) -> Result<Source, LoadError> {
    let Some(path) = path else { return BUILTINS[0].source() };
    let is_one = |name: &&str| !name.strip_prefix("public/").unwrap_or(name).contains('/');
    let name = path.to_str().filter(is_one);
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

/// How a head begins to tell what its load is like.
const BEGINS: [&str; 2] = ["Models ", "Re-creates: "];

impl Builtin {
    /// What it models, or re-creates: the first sentence of its head.
    #[must_use]
    pub fn models(&self) -> Option<String> {
        let text = self.source().ok()?.bytes;
        let head = text.split(|byte| *byte == b'\n').map_while(|line| line.strip_prefix(b"#"));
        let words = head.map(|line| String::from_utf8_lossy(line).trim().to_owned());
        let about: Vec<String> = words
            .skip_while(|line| BEGINS.iter().all(|begin| !line.starts_with(begin)))
            .take_while(|line| !line.is_empty())
            .collect();
        let about = about.join(" ");
        let about = BEGINS.iter().find_map(|begin| about.strip_prefix(begin))?;
        let end = about.find(". ").map_or(about, |end| &about[..end]);
        Some(end.trim_end_matches(['.', ':']).to_owned())
    }

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
    fn every_head_says_what_its_load_models() {
        let silent: Vec<_> = BUILTINS.iter().filter(|load| load.models().is_none()).collect();
        assert!(silent.is_empty(), "{:?}", silent.iter().map(|load| load.name).collect::<Vec<_>>());
        let walk = "what a permission check on the way to a file costs: paths are walked, and next to nothing else is done";
        assert_eq!(builtin("pathwalk").unwrap().models().unwrap(), walk);
    }

    #[test]
    fn every_file_of_the_directory_is_built_in() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("loadfiles");
        let mut found = Vec::new();
        for (below, prefix) in [(dir.clone(), ""), (dir.join("public"), "public/")] {
            for file in std::fs::read_dir(below).unwrap().map(|e| e.unwrap().path()) {
                // Presets keep theirs in directories.
                if file.is_file() {
                    let name = file.file_name().unwrap().to_str().unwrap();
                    let name = name.strip_suffix(".gz").unwrap_or(name);
                    let name = format!("{prefix}{}", name.strip_suffix(".load").unwrap());
                    assert_eq!(builtin(&name).unwrap().text, std::fs::read(file).unwrap());
                    found.push(name);
                }
            }
        }
        found.sort();
        let mut known: Vec<_> = BUILTINS.iter().map(|load| load.name.to_owned()).collect();
        known.sort();
        assert_eq!(found, known);
    }

    #[test]
    fn without_a_name_it_is_the_default() {
        assert_eq!(find(None).unwrap().name, "default");
    }

    #[test]
    fn a_name_is_no_path() {
        let find = |name| find(Some(Path::new(name)));
        assert_eq!(find("randread").unwrap().name, "randread");
        let slash = find("./randread").unwrap_err().to_string();
        assert!(slash.contains("cannot read") && !slash.contains("built-in"), "{slash}");
        assert_eq!(find("public/stat-shared").unwrap().name, "public/stat-shared");
        assert!(find("public/none").unwrap_err().to_string().contains("public/stat-shared"));
        let unknown = find("ranread").unwrap_err().to_string();
        assert!(
            unknown.contains("ranread") && unknown.contains("randread, randwrite"),
            "{unknown}"
        );
    }
}
