//! Arguments that are text: names of extended attributes, ACLs. Each stands in a program once, as
//! the bytes that the kernel is given.

use std::collections::HashMap;

use super::error::{LineResult, fault};
use super::lexer::{Line, Token};
use crate::acl::Acl;
use crate::acl::text::EXAMPLE;
use crate::op::argument::Text;

/// Longest name of an extended attribute in bytes: the kernel's XATTR_NAME_MAX.
const MAX_NAME: usize = 255;
/// What names begin with: the kernel's namespaces.
const NAMESPACES: [&[u8]; 4] = [b"user.", b"trusted.", b"security.", b"system."];

/// Texts of a loadfile, each different one once.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    list: Vec<Spelled>,
    known: HashMap<(Text, Box<[u8]>), u32>,
}

/// How often a text was spelled, and how, is no part of what it says.
impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Spelled {
    canonical: Box<[u8]>,
    bytes: Box<[u8]>,
}

impl Texts {
    /// How a text is spelled.
    #[must_use]
    pub fn canonical(&self, index: usize) -> &[u8] {
        &self.list[index].canonical
    }

    /// What the kernel is given, in the order of their numbers.
    pub(super) fn into_bytes(self) -> Box<[Box<[u8]>]> {
        self.list.into_iter().map(|text| text.bytes).collect()
    }

    /// The number of a text on a line.
    pub(super) fn number(
        &mut self,
        line: Line<'_>,
        token: Token,
        what: Text,
        name: &str,
    ) -> LineResult<u32> {
        let text = token.text(line.bytes);
        if let Some(number) = self.known.get(&(what, Box::from(&*text))) {
            return Ok(*number);
        }
        let spelled = match read(&text, what) {
            Ok(spelled) => spelled,
            Err((why, expected)) => {
                let message = format!("{name} {}: {why}", token.show(line.bytes));
                return fault(token.at(), message, expected);
            }
        };
        let same = |other: &Spelled| other.bytes == spelled.bytes;
        let number = match self.list.iter().position(same).filter(|_| what == Text::Acl) {
            Some(number) => number,
            None => {
                self.list.push(spelled);
                self.list.len() - 1
            }
        } as u32;
        self.known.insert((what, Box::from(&*text)), number);
        Ok(number)
    }
}

/// Why a text is none, and what is expected.
type Refusal = (String, String);

fn read(text: &[u8], what: Text) -> Result<Spelled, Refusal> {
    match what {
        Text::AttributeName => attribute_name(text),
        Text::Acl => {
            let acl = String::from_utf8_lossy(text).parse::<Acl>();
            let acl = acl.map_err(|error| (error.to_string(), EXAMPLE.to_owned()))?;
            Ok(Spelled { canonical: acl.short().into_bytes().into(), bytes: acl.encode().into() })
        }
    }
}

fn attribute_name(text: &[u8]) -> Result<Spelled, Refusal> {
    let expected = format!(
        "a name of at most {MAX_NAME} bytes that begins with user., trusted., security. or system."
    );
    let behind = NAMESPACES.iter().find_map(|space| text.strip_prefix(*space));
    let why = match behind {
        None => "it has no namespace",
        Some([]) => "nothing follows its namespace",
        Some(_) if text.len() > MAX_NAME => "it is too long",
        Some(_) if text.contains(&0) => "it holds a NUL",
        Some(_) => return Ok(Spelled { canonical: text.into(), bytes: text.into() }),
    };
    Err((why.to_owned(), expected))
}
