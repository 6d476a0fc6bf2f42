//! What a row of the table of words says.

use super::CallKind;
use super::argument::Role;

/// What is true of every line of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// As a loadfile spells it.
    pub text: &'static str,
    /// Its paths, by name; two at most.
    pub paths: &'static [&'static str],
    /// Its numbers behind them; four at most.
    pub numbers: &'static [(Role, &'static str)],
    /// Whether a line can say that it must fail.
    pub can_expect_failure: bool,
    /// Whether it changes nothing, and so may name what belongs to the run.
    pub only_looks: bool,
    /// The one system call that it is; `None` for what is made of several, or has a client's memory.
    pub call: Option<CallKind>,
    /// What its [`Role::Length`] or [`Role::ValueLength`] is the length of.
    pub data: Data,
}

/// What a word does with a client's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Nothing: what it moves stays in the kernel.
    None,
    /// It fills the buffer of reads.
    In,
    /// It takes the buffer of writes.
    Out,
}

impl Word {
    pub(super) const fn new(
        text: &'static str,
        paths: &'static [&'static str],
        numbers: &'static [(Role, &'static str)],
    ) -> Self {
        Self {
            text,
            paths,
            numbers,
            can_expect_failure: false,
            only_looks: false,
            call: None,
            data: Data::None,
        }
    }

    pub(super) const fn moves(self, data: Data) -> Self {
        Self { data, ..self }
    }

    pub(super) const fn can_expect_failure(self) -> Self {
        Self { can_expect_failure: true, ..self }
    }

    pub(super) const fn looks(self) -> Self {
        Self { only_looks: true, ..self }
    }

    /// One call and no more: both directions of its status count.
    pub(super) const fn is(self, call: CallKind) -> Self {
        Self { call: Some(call), can_expect_failure: true, ..self }
    }

    /// How the whole line is spelled.
    #[must_use]
    pub fn usage(&self) -> String {
        let mut text = self.text.to_owned();
        for name in self.paths {
            text.push_str(&format!(" \"{name}\""));
        }
        for (role, name) in self.numbers {
            let is_text = matches!(role, Role::Text(_));
            text.push_str(&if is_text { format!(" \"{name}\"") } else { format!(" <{name}>") });
        }
        text + " <status>"
    }

    /// Whether it is a call about an extended attribute.
    #[inline]
    #[must_use]
    pub fn speaks_of_attributes(&self) -> bool {
        self.call.is_some_and(CallKind::is_about_attributes)
    }

    /// Which of its numbers is the (first) handle.
    #[must_use]
    pub fn handle_position(&self) -> Option<usize> {
        self.numbers.iter().position(|(role, _)| *role == Role::Handle)
    }
}
