//! Which way calls are to go, where the engine has a choice.

use std::fmt;

use super::CallKind;

/// What is said about one kind of call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pin {
    /// Nothing: the engine measures.
    #[default]
    Auto,
    /// A plain system call of the thread.
    Inline,
    /// By the ring, where io_uring has an operation for it.
    Ring,
}

impl Pin {
    const ALL: [Self; 3] = [Self::Auto, Self::Inline, Self::Ring];

    /// The word of the command line and of route files.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Inline => "inline",
            Self::Ring => "ring",
        }
    }

    /// The pin that a word means.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pin| pin.word() == word)
    }
}

/// Ways of all kinds of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Routes([Pin; CallKind::COUNT]);

impl Default for Routes {
    fn default() -> Self {
        Self::all(Pin::Auto)
    }
}

impl Routes {
    /// The same for all kinds.
    #[must_use]
    pub const fn all(pin: Pin) -> Self {
        Self([pin; CallKind::COUNT])
    }

    /// What is said about a kind.
    #[must_use]
    pub const fn of(&self, kind: CallKind) -> Pin {
        self.0[kind.index()]
    }

    /// Reads a route file: lines of a kind of call and `inline`, `ring` or `auto`. `*` stands for
    /// all kinds that no other line names; `#` begins a comment.
    ///
    /// # Errors
    ///
    /// The line's number, counted from 1, and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut rest = Pin::Auto;
        let mut named = [None; CallKind::COUNT];
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split('#').next().unwrap_or_default();
            let mut words = text.split_whitespace();
            let Some(kind) = words.next() else { continue };
            let (Some(way), None) = (words.next(), words.next()) else {
                return Err((line, "expected a kind of call and a way: stat inline".into()));
            };
            let pin = Pin::from_word(way).ok_or_else(|| {
                (line, format!("{way} is no way; there are auto, inline and ring"))
            })?;
            if kind == "*" {
                rest = pin;
            } else if let Some(kind) = CallKind::from_word(kind) {
                named[kind.index()] = Some(pin);
            } else {
                let kinds: Vec<_> = CallKind::ALL.iter().map(|kind| kind.word()).collect();
                let kinds = kinds.join(" ");
                return Err((line, format!("{kind} is no kind of call; there are {kinds}")));
            }
        }
        Ok(Self(named.map(|pin| pin.unwrap_or(rest))))
    }
}

/// One word if all kinds are treated alike, else `kind=way` of those that are pinned.
impl fmt::Display for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.iter().all(|pin| *pin == self.0[0]) {
            return f.write_str(self.0[0].word());
        }
        let pinned = CallKind::ALL.iter().filter(|kind| self.of(**kind) != Pin::Auto);
        for (i, kind) in pinned.enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma}{}={}", kind.word(), self.of(*kind).word())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_file() {
        let routes =
            Routes::parse("# cached metadata\nstat inline\n\n create ring # slow\n").unwrap();
        assert_eq!(routes.of(CallKind::Stat), Pin::Inline);
        assert_eq!(routes.of(CallKind::Create), Pin::Ring);
        assert_eq!(routes.of(CallKind::Read), Pin::Auto);
        assert_eq!(routes.to_string(), "stat=inline,create=ring");
        let rest = Routes::parse("* inline\nfsync ring").unwrap();
        assert_eq!((rest.of(CallKind::Read), rest.of(CallKind::Fsync)), (Pin::Inline, Pin::Ring));
        assert_eq!(Routes::all(Pin::Ring).to_string(), "ring");
        assert_eq!(Routes::default().to_string(), "auto");
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        let wrong = |text| Routes::parse(text).unwrap_err();
        assert_eq!(wrong("stat inline\nstat fast").0, 2);
        assert_eq!(wrong("stat").0, 1);
        assert!(wrong("\n\nstats ring").1.contains("fdatasync"));
    }
}
