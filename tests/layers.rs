//! The shape of the sources: which module may use which, where `unsafe` is, how long files are.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules that use another one of their own floor, and why that is no tangle.
const SAME_FLOOR: [(&str, &str, &str); 13] = [
    ("import", "loadfile", "an import makes a loadfile; loadfile knows nothing of recordings"),
    ("fault", "errno", "a fault names its errno; errno knows nothing of faults"),
    ("audit", "host", "an audit looks at this host; host knows nothing of audits"),
    ("run", "front", "the worker speaks the front's protocol; the front knows nothing of runs"),
    ("matrix", "run", "a matrix is a series of runs; a run knows nothing of matrices"),
    ("matrix", "output", "effects are rows and tables; output knows nothing of matrices"),
    ("compare", "output", "a comparison names columns and makes rows; output knows of neither"),
    ("compare", "results", "a comparison reads result files; their reader compares nothing"),
    ("report", "compare", "a page holds a comparison of its files; compare knows of no page"),
    ("report", "output", "a page names columns; output knows of no page"),
    ("report", "results", "a page is made from result files; their reader makes none"),
    ("results", "output", "the reader of results names columns; output reads none"),
    ("run", "output", "a run makes rows and frames; output knows nothing of runs"),
];

/// Files that may hold `unsafe`: each is the one place of its floor that talks to the kernel raw.
const UNSAFE: [&str; 3] = ["engine/sys/", "host/sys.rs", "engine/uring"];

const MOST_LINES: usize = 400;

/// A source file without comments, texts and test modules: what its words mean is code.
struct Source {
    /// Below src.
    path: PathBuf,
    /// The file as it is.
    text: String,
    /// Words and single characters.
    tokens: Vec<String>,
}

impl Source {
    /// The module of the crate that the file belongs to; `None` for lib.rs and main.rs.
    fn module(&self) -> Option<String> {
        let first = Path::new(self.path.components().next().unwrap().as_os_str());
        let name = first.file_stem().unwrap().to_str().unwrap();
        (name != "lib" && name != "main").then(|| name.to_owned())
    }

    /// How many modules stand above the file's own, that of the crate not counted.
    fn depth(&self) -> usize {
        let parts = self.path.components().count();
        if self.path.ends_with("mod.rs") { parts - 1 } else { parts }
    }

    /// Modules of the crate that the file names by a path.
    fn uses(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for at in 0..self.tokens.len() {
            let is =
                |offset: usize, text: &str| self.tokens.get(at + offset).is_some_and(|t| t == text);
            if is(0, "crate") && is(1, "::") {
                self.first_names(at + 2, &mut found);
            }
            let begins = at == 0 || self.tokens[at - 1] != "::";
            if begins && is(0, "super") {
                let ups = (0..).take_while(|n| is(2 * n, "super") && is(2 * n + 1, "::")).count();
                if ups == self.depth() {
                    self.first_names(at + 2 * ups, &mut found);
                }
                assert!(ups <= self.depth() + 1, "{}: {ups} times super", self.path.display());
            }
        }
        found
    }

    /// The name at a token, or the first name of each path in the braces there.
    fn first_names(&self, at: usize, found: &mut BTreeSet<String>) {
        if self.tokens[at] != "{" {
            found.insert(self.tokens[at].clone());
            return;
        }
        let (mut depth, mut first) = (0, false);
        for token in &self.tokens[at..] {
            match token.as_str() {
                "{" => (depth, first) = (depth + 1, depth == 0),
                "}" => depth -= 1,
                "," => first = depth == 1,
                name if first => {
                    found.insert(name.to_owned());
                    first = false;
                }
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }
}

/// Rust text without comments, and with empty texts and characters.
fn strip(text: &str) -> String {
    let mut out = String::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let raw = rest.trim_start_matches('b');
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if raw.starts_with("r\"") || raw.starts_with("r#") {
            let hashes = raw[1..].bytes().take_while(|b| *b == b'#').count();
            if raw.as_bytes().get(1 + hashes) == Some(&b'"') {
                let end = format!("\"{}", "#".repeat(hashes));
                let start = rest.len() - raw.len() + 2 + hashes;
                at += start + rest[start..].find(&end).unwrap() + end.len();
                out.push_str("\"\"");
            } else {
                out.push_str(&rest[..2]);
                at += 2;
            }
        } else if rest.starts_with('"') {
            let mut end = at + 1;
            while bytes[end] != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            at = end + 1;
            out.push_str("\"\"");
        } else if rest.starts_with("'\\") {
            at += 3 + rest[3..].find('\'').unwrap() + 1;
            out.push_str("''");
        } else if rest.starts_with('\'') && rest.chars().nth(2) == Some('\'') {
            at += rest.chars().take(3).map(char::len_utf8).sum::<usize>();
            out.push_str("''");
        } else {
            let c = rest.chars().next().unwrap();
            // A word is taken whole, so that the r of `for"` begins no text.
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let length = if word > 0 { word } else { c.len_utf8() };
            out.push_str(&rest[..length]);
            at += length;
        }
    }
    out
}

fn tokens(stripped: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = stripped;
    while let Some(c) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = match word {
            0 if rest.starts_with("::") => 2,
            0 => c.len_utf8(),
            word => word,
        };
        if !c.is_whitespace() {
            tokens.push(rest[..length].to_owned());
        }
        rest = &rest[length..];
    }
    tokens
}

/// Takes out each `#[cfg(test)] mod ...`; returns the names of those that are files, each with
/// the attribute's path where there is one.
fn drop_tests(tokens: &[String]) -> (Vec<String>, Vec<String>) {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    let (mut kept, mut files) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        if !tokens[at..].iter().take(mark.len()).eq(mark.iter()) {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        // The item ends with its `;`, or with the brace that closes its first one.
        let mut depth = 0;
        let item = at + mark.len();
        let length = tokens[item..].iter().position(|token| {
            match token.as_str() {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                _ => {}
            }
            depth == 0 && (token == ";" || token == "}")
        });
        let end = item + length.unwrap();
        if tokens[end] == ";" && tokens[end - 2] == "mod" {
            files.push(tokens[end - 1].clone());
        }
        at = end + 1;
    }
    (kept, files)
}

fn files_below(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// All files of src; those that are only there for tests are told apart by their name.
fn sources() -> Vec<Source> {
    let mut paths = Vec::new();
    files_below(&root(), &mut paths);
    paths.sort();
    assert!(paths.len() > 50, "src has only {} files", paths.len());
    let mut sources = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let (tokens, test_files) = drop_tests(&tokens(&strip(&text)));
        // A test module in a file of its own is called so; else it would pass for code here.
        assert!(
            test_files.iter().all(|name| name == "tests"),
            "{}: {test_files:?}",
            path.display()
        );
        sources.push(Source { path: path.strip_prefix(root()).unwrap().to_owned(), text, tokens });
    }
    sources
}

fn is_test(path: &Path) -> bool {
    let name = path.file_stem().unwrap().to_string_lossy();
    name.ends_with("_tests") || path.components().any(|part| part.as_os_str() == "tests")
}

/// Floor of every module, from the table at the top of lib.rs.
fn floors() -> BTreeMap<String, u32> {
    let mut floors = BTreeMap::new();
    for line in fs::read_to_string(root().join("lib.rs")).unwrap().lines() {
        let Some(line) = line.strip_prefix("//! ") else { continue };
        let Some((floor, rest)) = line.split_once(' ') else { continue };
        let Ok(floor) = floor.parse() else { continue };
        let names = rest.split("  ").next().unwrap();
        floors.extend(names.split(", ").map(|name| (name.to_owned(), floor)));
    }
    floors
}

#[test]
fn every_module_has_a_floor() {
    let lib = fs::read_to_string(root().join("lib.rs")).unwrap();
    let modules = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let modules: BTreeSet<String> = modules.map(str::to_owned).collect();
    assert_eq!(floors().into_keys().collect::<BTreeSet<_>>(), modules);
    let of_files: BTreeSet<String> = sources().iter().filter_map(Source::module).collect();
    assert_eq!(of_files, modules);
}

#[test]
fn a_floor_imports_only_lower_ones() {
    let floors = floors();
    let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
    for source in sources().iter().filter(|source| !is_test(&source.path)) {
        let Some(module) = source.module() else { continue };
        for name in source.uses() {
            let Some(floor) = floors.get(&name) else {
                wrong.push(format!("{}: crate::{name} is no module", source.path.display()));
                continue;
            };
            let pair = SAME_FLOOR.iter().find(|pair| (pair.0, pair.1) == (&*module, &*name));
            used.extend(pair.map(|pair| (pair.0, pair.1)));
            if name != module && *floor >= floors[&module] && pair.is_none() {
                wrong.push(format!(
                    "{}: {module} stands on floor {} and uses {name} of floor {floor}",
                    source.path.display(),
                    floors[&module]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    for (module, name, _) in SAME_FLOOR {
        assert_eq!(floors[module], floors[name], "{module}, {name}");
        assert!(used.contains(&(module, name)), "{module} does not use {name}: strike it out");
    }
}

#[test]
fn the_reader_of_sources_sees_what_counts() {
    let text = r####"
        // crate::comment
        use crate::{a::{b, c}, d, e as f};
        fn x() { "crate::text"; r#"crate::"raw"#; '"'; '\''; super::super::g::h(); 'l: loop {} }
        #[cfg(test)]
        mod tests { use crate::t; fn y() { "}" } }
        #[cfg(test)]
        #[path = "x_tests.rs"]
        mod others;
        fn z() { crate::i::j() }
    "####;
    let (tokens, files) = drop_tests(&tokens(&strip(text)));
    let source = Source { path: "m/n.rs".into(), text: String::new(), tokens };
    let uses: Vec<_> = source.uses().into_iter().collect();
    assert_eq!(uses, ["a", "d", "e", "g", "i"]);
    assert_eq!(files, ["others"]);
}

#[test]
fn unsafe_is_in_three_places_only() {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for source in sources() {
        if !source.tokens.iter().any(|token| token == "unsafe" || token == "unsafe_code") {
            continue;
        }
        let path = source.path.to_str().unwrap();
        let place = UNSAFE.iter().find(|place| path.starts_with(**place));
        assert!(place.is_some(), "{path} has unsafe code, or allows it");
        found.extend(place.copied());
    }
    assert_eq!(found.len(), UNSAFE.len(), "{found:?} of {UNSAFE:?}");
}

#[test]
fn files_are_short() {
    let long: Vec<String> = sources()
        .iter()
        .map(|source| (&source.path, source.text.lines().count()))
        .filter(|(_, lines)| *lines > MOST_LINES)
        .map(|(path, lines)| format!("{}: {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "longer than {MOST_LINES}: {long:?}");
}

/// A test that does not run proves nothing: what cannot run somewhere says so and is skipped.
#[test]
fn no_test_is_ignored() {
    let mut paths = Vec::new();
    files_below(&root(), &mut paths);
    files_below(&root().with_file_name("tests"), &mut paths);
    for path in paths {
        let stripped = tokens(&strip(&fs::read_to_string(&path).unwrap()));
        let ignored =
            stripped.windows(3).any(|three| three[..2] == ["#", "["] && three[2] == "ignore");
        assert!(!ignored, "{} ignores a test", path.display());
    }
}
