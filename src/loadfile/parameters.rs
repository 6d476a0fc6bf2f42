//! SET lines and what `${...}` stands for: a text becomes another text, before it is cut into
//! tokens. So a parameter works wherever text does, and the tree knows nothing of it.

use std::borrow::Cow;

use serde::Serialize;

use super::arithmetic::{self, evaluate, is_name};
use super::error::{Diagnostic, Diagnostics, LineResult, LoadError, fault};
use super::lexer::{Lexer, Line, MAX_LINE, Token};
use super::source::{MAX_BYTES, Source};

/// Most SET lines of a file.
const MAX_PARAMETERS: usize = 100;
/// Longest value in bytes.
const MAX_VALUE: usize = 1000;
const USAGE: &str = "SET <name>=<default>";
const NAME: &str = "a name of letters, digits and _, with no digit in front, of 64 at most";

/// Values by name, as `--set` gives them.
pub type Given = [(String, String)];

/// What a SET line names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Line number of the SET, from 1.
    pub line: u32,
    /// The value that the file gives it.
    pub default: String,
    /// The value that it has: the default, or another one that was given. Sizes such as `4k` are plain numbers.
    pub value: String,
    /// Whether that was given.
    pub given: bool,
}

/// Reads `NAME=VALUE`; a size becomes the number that it is.
///
/// # Errors
/// When it has no name, or a value that no line can have.
pub fn parse_given(text: &str) -> Result<(String, String), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(format!("{text}: expected NAME=VALUE, such as size=4m"));
    };
    if !is_name(name.as_bytes()) {
        return Err(format!("{text}: `{name}` is not {NAME}"));
    }
    match refusal(value.as_bytes()) {
        Some(why) => Err(format!("{text}: {why}")),
        None => Ok((name.to_owned(), plain(value))),
    }
}

/// Why a text cannot be a value: it would not stay one.
fn refusal(value: &[u8]) -> Option<String> {
    if value.len() > MAX_VALUE {
        return Some(format!("the value has {} bytes, more than {MAX_VALUE}", value.len()));
    }
    let is_bad = |byte: &&u8| byte.is_ascii_control() || **byte == b'"';
    if let Some(bad) = value.iter().find(is_bad) {
        return Some(format!("the value has a {:?} in it", *bad as char));
    }
    value.windows(2).any(|two| two == b"${").then(|| "the value has `${` in it".to_owned())
}

/// Refuses values that no loadfile has a parameter for; `files` are all loadfiles of a command.
///
/// # Errors
/// A message that names what can be set.
pub fn refuse_strangers<'p>(
    given: &Given,
    files: impl Iterator<Item = (&'p str, &'p [Parameter])> + Clone,
) -> Result<(), String> {
    let known = |name: &String| {
        let mut all = files.clone().flat_map(|(_, parameters)| parameters);
        all.any(|parameter| parameter.name == *name)
    };
    let Some((name, value)) = given.iter().find(|(name, _)| !known(name)) else {
        return Ok(());
    };
    let one = |(file, parameters): (&str, &[Parameter])| {
        let names: Vec<_> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        format!("{file}: {names}")
    };
    let mut all: Vec<String> = files.map(one).collect();
    all.sort();
    all.dedup();
    let all = all.join("; ");
    Err(format!("--set {name}={value}: no SET line names {name}. What can be set: {all}"))
}

/// A text with its parameters put in: lines stay where they are.
#[derive(Clone, Debug)]
pub struct Applied<'s> {
    /// The text that it is now.
    pub source: Cow<'s, Source>,
    /// What its SET lines name.
    pub parameters: Vec<Parameter>,
}

impl Applied<'_> {
    /// Number of the last SET line, 0 without one.
    pub(super) fn last_line(&self) -> u32 {
        self.parameters.last().map_or(0, |parameter| parameter.line)
    }
}

/// Puts values into a text, defaults where none is given. A text without SET lines at its top stays
/// what it is. A given value that it has no name for is no mistake here: see [`refuse_strangers`].
///
/// # Errors
/// When SET lines or what stands in `${...}` are wrong.
pub fn apply<'s>(source: &'s Source, given: &Given) -> Result<Applied<'s>, LoadError> {
    let mut bad = Diagnostics::default();
    let parameters = read_sets(source, given, &mut bad);
    let mut applied = Applied { source: Cow::Borrowed(source), parameters };
    if bad.total() == 0 && !applied.parameters.is_empty() {
        let bytes = put_in(source, &applied.parameters, &mut bad)?;
        applied.source = Cow::Owned(Source { name: source.name.clone(), bytes, gzip: source.gzip });
    }
    if bad.total() > 0 {
        return Err(LoadError::Lines(bad));
    }
    Ok(applied)
}

/// The SET lines at the top.
fn read_sets(source: &Source, given: &Given, bad: &mut Diagnostics) -> Vec<Parameter> {
    let (mut parameters, mut tokens) = (Vec::new(), Vec::new());
    let mut lexer = Lexer::new(&source.bytes);
    while let Some((line, split)) = lexer.next(&mut tokens) {
        match tokens.first().map(|word| word.raw(line.bytes)) {
            None if split.is_ok() => continue,
            Some([b'#', ..]) => continue,
            Some(b"SET") => {}
            _ => break,
        }
        let read = split.and_then(|()| read_set(line, &tokens, &parameters, given));
        match read {
            Ok(parameter) => parameters.push(parameter),
            Err(fault) => {
                bad.push(|| Diagnostic::new(&source.name, line.number, line.bytes, *fault));
            }
        }
    }
    parameters
}

fn read_set(
    line: Line<'_>,
    tokens: &[Token],
    above: &[Parameter],
    given: &Given,
) -> LineResult<Parameter> {
    let [_, setting, more @ ..] = tokens else {
        return fault(line.bytes.len(), "something is missing at the end", USAGE);
    };
    if let Some(extra) = more.first() {
        let message = format!("{} is too much", extra.show(line.bytes));
        return fault(extra.at(), message, format!("{USAGE}; quotes around blanks"));
    }
    let (at, text) = (setting.at(), setting.text(line.bytes));
    let Some(equals) = text.iter().position(|byte| *byte == b'=') else {
        return fault(at, "SET without a `=`", USAGE);
    };
    let (name, default) = (&text[..equals], &text[equals + 1..]);
    let shown = String::from_utf8_lossy(name).into_owned();
    if !is_name(name) {
        return fault(at, format!("`{}` cannot be set", shown.escape_debug()), NAME);
    }
    if let Some(first) = above.iter().find(|parameter| parameter.name == shown) {
        let message = format!("{shown} is set in line {}, too", first.line);
        return fault(at, message, "one SET for each name");
    }
    if above.len() == MAX_PARAMETERS {
        let message = format!("more than {MAX_PARAMETERS} SET lines");
        return fault(0, message, "fewer");
    }
    // Where a quote stands before the default, columns are one further.
    let default_at = at + equals + 1 + usize::from(setting.is_quoted());
    let default = expand(default, default_at, above)?;
    if let Some(why) = refusal(&default) {
        return fault(default_at, why, "another default");
    }
    let Ok(default) = String::from_utf8(default) else {
        return fault(default_at, "the default is no UTF-8 text", "another default");
    };
    let other = given.iter().find(|(name, _)| *name == shown).map(|(_, value)| value);
    let value = plain(other.unwrap_or(&default));
    Ok(Parameter { name: shown, line: line.number, default, value, given: other.is_some() })
}

/// A size as the number that it is; any other text as it stands.
fn plain(value: &str) -> String {
    let has_unit = value.ends_with(['k', 'm', 'g', 't', 'K', 'M', 'G', 'T']);
    match arithmetic::whole(value.as_bytes()).filter(|_| has_unit) {
        Some(number) => number.to_string(),
        None => value.to_owned(),
    }
}

/// The text with the values in it. SET lines and comments stay what they are.
fn put_in(
    source: &Source,
    parameters: &[Parameter],
    bad: &mut Diagnostics,
) -> Result<Vec<u8>, LoadError> {
    let last_set = parameters.last().map_or(0, |parameter| parameter.line);
    let mut out = Vec::with_capacity(source.bytes.len());
    for (number, line) in (1u32..).zip(source.bytes.split_inclusive(|byte| *byte == b'\n')) {
        let starts = line.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
        let has_one = number > last_set && line.windows(2).any(|two| two == b"${");
        if !has_one || starts == Some(&b'#') || line.len() > 2 * MAX_LINE {
            out.extend_from_slice(line);
        } else {
            match expand(line, 0, parameters) {
                Ok(line) => out.extend(line),
                Err(fault) => {
                    let line = line.trim_ascii_end();
                    bad.push(|| Diagnostic::new(&source.name, number, line, *fault));
                }
            }
        }
        if out.len() as u64 > MAX_BYTES {
            return Err(LoadError::TooLarge { file: source.name.clone(), limit: MAX_BYTES });
        }
    }
    Ok(out)
}

/// A text, at an offset of its line, with values instead of `${...}`.
fn expand(text: &[u8], at: usize, parameters: &[Parameter]) -> LineResult<Vec<u8>> {
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some(start) = rest.windows(2).position(|two| two == b"${") {
        let open = at + text.len() - rest.len() + start;
        let body = &rest[start + 2..];
        let Some(len) = body.iter().position(|byte| *byte == b'}') else {
            return fault(open, "this `${` is not closed", "a `}` on the line");
        };
        out.extend_from_slice(&rest[..start]);
        out.extend(value_of(&body[..len], open + 2, parameters)?);
        // A line that long is refused in any case.
        if out.len() > 2 * MAX_LINE {
            let expected = format!("at most {MAX_LINE} bytes in a line");
            return fault(open, "the line becomes too long with its values", expected);
        }
        rest = &body[len + 1..];
    }
    out.extend_from_slice(rest);
    Ok(out)
}

/// What stands for the inside of one `${...}`: a name's text, or the number that is computed.
fn value_of(body: &[u8], at: usize, parameters: &[Parameter]) -> LineResult<Vec<u8>> {
    if is_name(body) {
        return find(body, at, parameters).map(|found| found.value.clone().into_bytes());
    }
    let number = |name: &[u8], at: usize| {
        let found = find(name, at, parameters)?;
        match arithmetic::whole(found.value.as_bytes()) {
            Some(number) => Ok(number),
            None => {
                let message = format!("{} is `{}`, which is no number", found.name, found.value);
                fault(at, message, "a whole number, or one with k, m, g or t behind it")
            }
        }
    };
    evaluate(body, at, &number).map(|number| number.to_string().into_bytes())
}

fn find<'p>(name: &[u8], at: usize, parameters: &'p [Parameter]) -> LineResult<&'p Parameter> {
    match parameters.iter().find(|parameter| parameter.name.as_bytes() == name) {
        Some(found) => Ok(found),
        None => {
            let names: Vec<_> = parameters.iter().map(|known| known.name.as_str()).collect();
            let message = format!("no SET line above names {}", String::from_utf8_lossy(name));
            let expected = match names.is_empty() {
                true => "a SET line above for it".to_owned(),
                false => format!("one of {}", names.join(", ")),
            };
            fault(at, message, expected)
        }
    }
}
