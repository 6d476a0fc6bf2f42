//! Lines of the load: each is tried in the language before it is written.

use crate::loadfile::{LoadError, Options, parse_bytes};

/// What has been written of a pass.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) body: Vec<u8>,
    /// Operations, those in loops counted once.
    pub(super) ops: u64,
    /// How often the next operation has to be done.
    repeat: Option<Vec<u8>>,
    /// Loops that are open.
    loops: u32,
}

/// Whether the language has these lines; they are `\n`-ended.
fn check(lines: &[u8]) -> Result<(), String> {
    match parse_bytes("", lines, &Options::default()) {
        Ok(_) => Ok(()),
        Err(LoadError::Lines(faults)) => {
            let fault = faults.kept.first();
            Err(fault.map_or_else(String::new, |fault| {
                format!("{}; expected {}", fault.message, fault.expected)
            }))
        }
        Err(other) => Err(other.to_string()),
    }
}

impl Writer {
    /// Writes the operations that a line has become, the first at `time`. Nothing is written when the language
    /// cannot say one of them.
    pub(super) fn ops(&mut self, time: &[u8], lines: &[Vec<u8>]) -> Result<(), String> {
        let mut text = Vec::new();
        for (i, line) in lines.iter().enumerate() {
            if i == 0 && !time.is_empty() {
                text.extend_from_slice(time);
                text.push(b' ');
            }
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        check(&text)?;
        self.ops += lines.len() as u64;
        let repeat = self.repeat.take();
        match (&repeat, lines) {
            (None, _) => self.body.extend(text),
            (Some(times), [_]) => {
                self.body.extend([b"REPEAT ", times.as_slice(), b"\n", &text].concat())
            }
            (Some(times), _) => {
                self.body.extend([b"LOOP ", times.as_slice(), b"\n", &text, b"ENDLOOP\n"].concat());
            }
        }
        Ok(())
    }

    /// Takes note of a REPEAT; `false` when it is none, or when there is one already.
    pub(super) fn repeat(&mut self, times: &[u8]) -> Result<(), String> {
        check(&[b"REPEAT ", times, b"\nFlush 1 *\n"].concat())?;
        match self.repeat.replace(times.to_vec()) {
            None => Ok(()),
            Some(_) => Err("a REPEAT of a REPEAT; expected an operation".to_owned()),
        }
    }

    /// Forgets a REPEAT, whose line is not in the load. Whether there was one.
    pub(super) fn forget_repeat(&mut self) -> bool {
        self.repeat.take().is_some()
    }

    /// Writes another directive as it is.
    pub(super) fn directive(&mut self, word: &[u8], line: &[u8]) -> Result<(), String> {
        let closed = match word {
            b"LOOP" => [line, b"\nFlush 1 *\nENDLOOP\n"].concat(),
            b"ENDLOOP" => [b"LOOP 1\nFlush 1 *\n", line, b"\n"].concat(),
            _ => [line, b"\nFlush 1 *\n"].concat(),
        };
        check(&closed)?;
        match word {
            b"LOOP" if self.loops == MOST_LOOPS => {
                return Err(format!("more than {MOST_LOOPS} loops in one another"));
            }
            b"LOOP" => self.loops += 1,
            b"ENDLOOP" if self.loops == 0 => return Err("ENDLOOP without LOOP".to_owned()),
            b"ENDLOOP" => self.loops -= 1,
            _ => {}
        }
        self.body.extend_from_slice(line);
        self.body.push(b'\n');
        Ok(())
    }

    /// Closes what is still open; how many loops that were.
    pub(super) fn end(&mut self) -> u32 {
        for _ in 0..self.loops {
            self.body.extend_from_slice(b"ENDLOOP\n");
        }
        std::mem::take(&mut self.loops)
    }
}

/// As many as a loadfile may have in one another, less those that a REPEAT becomes.
const MOST_LOOPS: u32 = 63;
