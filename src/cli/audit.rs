//! `jbodbench audit`: which permission check each component of a path takes.

use std::io::{IsTerminal, Write};

use super::args::{AuditArgs, CheckFormat};
use super::say;
use crate::audit::{Audit, Question, audit as look};
use crate::host::credentials::Credentials;
use crate::host::users::Users;
use crate::output::{AUDIT_COLUMNS, audit_rows, audit_text};

pub(super) fn audit(args: &AuditArgs) -> u8 {
    let question = match question(args) {
        Ok(question) => question,
        Err((code, error)) => {
            say(&error);
            return code;
        }
    };
    let audit = match look(&question) {
        Ok(audit) => audit,
        Err(error) => {
            say(&error.to_string());
            return 3;
        }
    };
    match write(&audit, args.format) {
        Ok(()) => code(&audit),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => 141,
        Err(error) => {
            say(&format!("cannot write: {error}"));
            1
        }
    }
}

/// 1 where the user does not reach the path, 3 where it could not be seen to its end.
fn code(audit: &Audit) -> u8 {
    match (audit.denied_at(), &audit.stopped) {
        (Some(_), _) => 1,
        (None, Some(why)) => {
            say(why);
            3
        }
        (None, None) => u8::from(audit.disagreements().next().is_some()),
    }
}

fn question(args: &AuditArgs) -> Result<Question, (u8, String)> {
    let users = Users::read().map_err(|error| (3, error.to_string()))?;
    let own = Credentials::of_this_thread().map_err(|error| (3, error.to_string()))?;
    let names = users.names();
    let (who, name) = match &args.user {
        None => (own.clone(), names.user(own.uid)),
        Some(text) => {
            let account = users.find(text).map_err(|error| (2, format!("--as {error}")))?;
            let mut who = Credentials::of_account(&account);
            if own.uid == 0 && who.uid == 0 {
                // Root in a container may have fewer.
                (who.dac_override, who.dac_read_search) = (own.dac_override, own.dac_read_search);
            }
            (who, account.name.unwrap_or_else(|| account.uid.to_string()))
        }
    };
    Ok(Question { path: args.path.clone(), who, name, last: args.want, names })
}

/// `x`, `rw`, `rwx`: a sum of read 4, write 2, execute or search 1.
pub(super) fn parse_want(text: &str) -> Result<u8, String> {
    let bit = |letter| match letter {
        'r' => Some(4),
        'w' => Some(2),
        'x' => Some(1),
        _ => None,
    };
    let bits: Option<Vec<u8>> = text.chars().map(bit).collect();
    match bits {
        Some(bits) if !bits.is_empty() => Ok(bits.iter().fold(0, |all, bit| all | bit)),
        _ => Err("letters out of r, w and x are wanted, such as rw".to_owned()),
    }
}

fn write(audit: &Audit, format: CheckFormat) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    match format {
        CheckFormat::Text => {
            let color = out.is_terminal() && std::env::var_os("NO_COLOR").is_none();
            out.write_all(audit_text(audit, color).as_bytes())?;
        }
        CheckFormat::Json => {
            serde_json::to_writer_pretty(&mut out, audit)?;
            writeln!(out)?;
        }
        CheckFormat::Csv => {
            let mut csv = csv::Writer::from_writer(&mut out);
            csv.write_record(AUDIT_COLUMNS)?;
            for row in audit_rows(audit) {
                csv.write_record(row)?;
            }
            csv.flush()?;
        }
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::parse_want;

    #[test]
    fn wanted_permissions() {
        assert_eq!(parse_want("x"), Ok(1));
        assert_eq!(parse_want("rwx"), Ok(7));
        assert!(parse_want("").is_err() && parse_want("rz").is_err());
    }
}
