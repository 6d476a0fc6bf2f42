//! What front and worker say to each other: one JSON line a message.

use std::path::PathBuf;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// A run directory that the worker has made; paths are bytes, since names need not be UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeTree {
    /// The disk's directory.
    pub disk: Vec<u8>,
    /// The run directory's name in it.
    pub name: Vec<u8>,
    /// Its device number.
    pub dev: u64,
    /// Its inode number.
    pub ino: u64,
    /// User and group that made it, where that was not root itself: only they can remove it.
    pub maker: Option<(u32, u32)>,
}

/// From worker to front.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromWorker {
    /// A run directory exists.
    Made(MadeTree),
    /// It is gone.
    Removed(MadeTree),
    /// A file system is about to be remounted: the journal that says how to undo it.
    Remounts(PathBuf),
    /// It was set back.
    SetBack(PathBuf),
    /// All results are written; the front may leave.
    Done {
        /// The exit code.
        code: u8,
        /// Whether the worker stays behind for a disk that does not answer.
        stays: bool,
    },
}

/// From front to worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToWorker {
    /// The first signal came: stop, report, clean.
    Signal {
        /// Its number.
        number: i32,
    },
    /// A second one came: hand over what there is, wait for nothing.
    Leave,
}

/// One end of the connection.
#[derive(Debug)]
pub struct Link {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    line: Vec<u8>,
    ended: bool,
}

impl Link {
    /// Takes a connected socket.
    #[must_use]
    pub fn new(socket: UnixStream) -> Self {
        let (reader, writer) = socket.into_split();
        Self { reader: BufReader::new(reader), writer, line: Vec::new(), ended: false }
    }

    /// The next message; `None`, once, when the other side is gone: a loop that goes on without it
    /// must not be woken by that for ever. May be cancelled and called again.
    pub async fn receive<M: DeserializeOwned>(&mut self) -> Option<M> {
        if self.ended {
            return std::future::pending().await;
        }
        loop {
            // A cancelled read leaves what it has read in `line`.
            match self.reader.read_until(b'\n', &mut self.line).await {
                Ok(n) if n > 0 && self.line.last() == Some(&b'\n') => {
                    let message = serde_json::from_slice(&self.line);
                    self.line.clear();
                    if let Ok(message) = message {
                        return Some(message);
                    }
                }
                _ => {
                    self.ended = true;
                    return None;
                }
            }
        }
    }

    /// Sends a message. That the other side is gone shows at the next [`Link::receive`].
    pub async fn send<M: Serialize>(&mut self, message: &M) {
        if let Ok(mut line) = serde_json::to_vec(message) {
            line.push(b'\n');
            let _ = self.writer.write_all(&line).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_whole_and_the_end_is_seen() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (a, b) = UnixStream::pair().unwrap();
            let (mut a, mut b) = (Link::new(a), Link::new(b));
            let tree = MadeTree {
                disk: b"/m\xff\n".to_vec(),
                name: b"x".to_vec(),
                dev: 1,
                ino: 2,
                maker: None,
            };
            a.send(&FromWorker::Made(tree.clone())).await;
            a.send(&FromWorker::Done { code: 3, stays: false }).await;
            assert_eq!(b.receive().await, Some(FromWorker::Made(tree)));
            assert_eq!(b.receive().await, Some(FromWorker::Done { code: 3, stays: false }));
            drop(a);
            assert_eq!(b.receive::<FromWorker>().await, None);
        });
    }
}
