//! Whether the kernel audits, and how many rules it has: by the netlink socket that auditctl uses.
//! With auditing on, every system call is looked at, and opens that may create a file take another way.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use rustix::net::{recv, sendto, socket_with};

/// Messages of linux/audit.h and linux/netlink.h.
const AUDIT_GET: u16 = 1000;
const AUDIT_LIST_RULES: u16 = 1013;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
/// Length of a netlink message's head: length, type, flags, sequence, port.
const HEAD: usize = 16;
/// The kernel answers at once, if it does.
const PATIENCE: Duration = Duration::from_secs(1);

/// The kernel's answer. `None` where it does not say: that takes CAP_AUDIT_CONTROL in the first user
/// namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditStatus {
    /// 0 off, 1 on, 2 on and locked.
    pub enabled: Option<u32>,
    /// Number of rules.
    pub rules: Option<u64>,
}

impl AuditStatus {
    /// Asks.
    #[must_use]
    pub fn read() -> Self {
        Self { enabled: enabled().ok().flatten(), rules: rules().ok().flatten() }
    }
}

fn enabled() -> Result<Option<u32>, Errno> {
    let socket = ask(AUDIT_GET)?;
    let mut found = None;
    each_message(&socket, |kind, body| {
        if kind == AUDIT_GET {
            // struct audit_status: mask, enabled, ...
            found = word(body, 4);
        }
        // The status comes before the acknowledgement, or after it.
        found.is_some()
    })?;
    Ok(found)
}

fn rules() -> Result<Option<u64>, Errno> {
    let socket = ask(AUDIT_LIST_RULES)?;
    let (mut count, mut done) = (0, false);
    each_message(&socket, |kind, _| {
        match kind {
            AUDIT_LIST_RULES => count += 1,
            NLMSG_DONE => done = true,
            _ => {}
        }
        done
    })?;
    Ok(done.then_some(count))
}

/// A socket on which one question was asked.
fn ask(kind: u16) -> Result<OwnedFd, Errno> {
    let family = AddressFamily::NETLINK;
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::RAW, flags, Some(netlink::AUDIT))?;
    set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
    let mut message = Vec::with_capacity(HEAD);
    message.extend((HEAD as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend((NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
    message.extend([0; 8]); // sequence and port
    sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    Ok(socket)
}

/// Reads messages until `last` says that no more is needed, or the kernel refuses.
fn each_message(socket: &OwnedFd, mut last: impl FnMut(u16, &[u8]) -> bool) -> Result<(), Errno> {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let (length, _) = recv(socket, buffer.as_mut_slice(), RecvFlags::empty())?;
        let mut rest = &buffer[..length];
        while rest.len() >= HEAD {
            let end = word(rest, 0).unwrap_or(0) as usize;
            // A length that cannot be is taken for what is there.
            let end = end.clamp(HEAD, rest.len());
            let kind = u16::from_ne_bytes([rest[4], rest[5]]);
            let body = &rest[HEAD..];
            match word(body, 0) {
                Some(errno) if kind == NLMSG_ERROR && errno != 0 => {
                    return Err(Errno::from_raw_os_error(errno.cast_signed().saturating_neg()));
                }
                _ => {}
            }
            if last(kind, body) {
                return Ok(());
            }
            rest = &rest[end.next_multiple_of(4).min(rest.len())..];
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
