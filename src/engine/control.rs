//! What the threads of a disk share while they run: the measured window, the word that stops
//! them, and the clients' synchronisation points.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use rustix::thread::futex;
use rustix::time::Timespec;

use super::now_ns;

/// Stop and window of one disk. Clients look at [`Control::word`] once an operation.
#[derive(Debug)]
pub struct Control {
    word: AtomicU32,
    start_ns: AtomicU64,
    end_ns: AtomicU64,
    first_done_ns: AtomicU64,
    prepared: AtomicU64,
    resting: AtomicU32,
    points: SyncPoints,
    turnstile: Turnstile,
}

impl Control {
    const STOP: u32 = 1;
    const FIRST_DONE: u32 = 2;

    /// A disk with `clients` clients. There is no window yet.
    #[must_use]
    pub fn new(clients: u32) -> Self {
        Self::with_turnstile(clients, Turnstile::default())
    }

    /// The same, with a turnstile at which its clients wait for those of other disks.
    #[must_use]
    pub fn with_turnstile(clients: u32, turnstile: Turnstile) -> Self {
        Self {
            word: AtomicU32::new(0),
            start_ns: AtomicU64::new(u64::MAX),
            end_ns: AtomicU64::new(u64::MAX),
            first_done_ns: AtomicU64::new(u64::MAX),
            prepared: AtomicU64::new(0),
            resting: AtomicU32::new(0),
            // The last one is the start.
            points: SyncPoints::new(clients + 1),
            turnstile,
        }
    }

    /// Sets the measured window, in [`now_ns`] time. `end_ns` is `u64::MAX` without a time limit.
    pub fn set_window(&self, start_ns: u64, end_ns: u64) {
        self.start_ns.store(start_ns, SeqCst);
        self.end_ns.store(end_ns, SeqCst);
    }

    /// Start and end of the measured window.
    #[must_use]
    pub fn window(&self) -> (u64, u64) {
        (self.start_ns.load(Relaxed), self.end_ns.load(Relaxed))
    }

    /// Changes whenever a client has to look: see [`Control::stopped`] and
    /// [`Control::first_done_ns`].
    #[inline]
    #[must_use]
    pub fn word(&self) -> u32 {
        self.word.load(Relaxed)
    }

    /// Whether `word` says that the disk's clients shall stop.
    #[inline]
    #[must_use]
    pub fn stopped(word: u32) -> bool {
        word & Self::STOP != 0
    }

    /// Makes all clients of the disk stop at their next operation, and ends their waits.
    pub fn stop(&self) {
        self.word.fetch_or(Self::STOP, SeqCst);
        wake(&self.word);
        self.points.wake_all();
        self.turnstile.0.wake();
    }

    /// A client of the disk has done all its passes: from here on not all of them are active.
    pub fn client_done(&self, at_ns: u64) {
        self.first_done_ns.fetch_min(at_ns, SeqCst);
        self.word.fetch_or(Self::FIRST_DONE, SeqCst);
    }

    /// When the first client of the disk was done, `u64::MAX` before.
    #[must_use]
    pub fn first_done_ns(&self) -> u64 {
        self.first_done_ns.load(SeqCst)
    }

    /// What clients wait for that have made their preparations, with [`super::Call::Await`].
    #[must_use]
    pub fn start_point(&self) -> (u32, i64) {
        (self.points.0.len() as u32 - 1, 1)
    }

    /// Lets clients go that wait for [`Control::start_point`].
    pub fn start(&self) {
        let (point, value) = self.start_point();
        self.points.set(point, value);
    }

    /// What clients wait for at the turnstile, with [`super::Call::Await`] and how often it has
    /// turned.
    #[must_use]
    pub fn turnstile_point(&self) -> u32 {
        self.points.0.len() as u32
    }

    /// A client goes on with its PREPARE, or with a phase that is not measured.
    pub fn count_preparation(&self) {
        self.prepared.fetch_add(1, Relaxed);
    }

    /// How often clients went on with what is not measured: as long as it grows, the disk answers.
    #[must_use]
    pub fn preparation(&self) -> u64 {
        self.prepared.load(Relaxed)
    }

    /// A client does nothing for a long time because its load says so, or (`false`) has done so.
    pub fn rest(&self, begins: bool) {
        if begins {
            self.resting.fetch_add(1, Relaxed);
        } else {
            self.resting.fetch_sub(1, Relaxed);
        }
    }

    /// Whether a client does nothing because its load says so.
    #[must_use]
    pub fn rests(&self) -> bool {
        self.resting.load(Relaxed) > 0
    }

    /// The clients' synchronisation points.
    #[must_use]
    pub fn points(&self) -> &SyncPoints {
        &self.points
    }

    /// Blocks the thread until `until_ns`, the end of the window or a stop.
    pub(super) fn sleep(&self, until_ns: u64) {
        let until = until_ns.min(self.end_ns.load(Relaxed));
        loop {
            let word = self.word();
            if Self::stopped(word) || !wait(&self.word, word, until) {
                return;
            }
        }
    }

    /// Whether waits are over: the disk was stopped, or the window has ended.
    pub(super) fn waits_end(&self, now_ns: u64) -> bool {
        Self::stopped(self.word()) || now_ns >= self.end_ns.load(Relaxed)
    }

    fn point(&self, number: u32) -> Option<&Point> {
        let turnstile = || (number == self.turnstile_point()).then_some(&*self.turnstile.0);
        self.points.0.get(number as usize).or_else(turnstile)
    }

    /// Whether a point has reached a value; `None` when there is no such client.
    pub(super) fn reached(&self, client: u32, value: i64) -> Option<bool> {
        let point = self.point(client)?;
        Some(point.value.load(SeqCst) >= value)
    }

    /// Blocks the thread until a point has reached a value, the end of the window or a stop.
    pub(super) fn wait_for(&self, client: u32, value: i64) -> bool {
        let Some(point) = self.point(client) else { return false };
        loop {
            let turn = point.turn.load(SeqCst);
            if point.value.load(SeqCst) >= value {
                return true;
            }
            let end = self.end_ns.load(Relaxed);
            if Self::stopped(self.word()) || !wait(&point.turn, turn, end) {
                return false;
            }
        }
    }
}

/// One value per client, set by SETSP and awaited by WAITSP. They start at 0.
#[derive(Debug)]
pub struct SyncPoints(Box<[Point]>);

#[derive(Debug, Default)]
#[repr(align(64))]
struct Point {
    value: AtomicI64,
    turn: AtomicU32,
}

impl Point {
    fn set(&self, value: i64) {
        self.value.store(value, SeqCst);
        self.wake();
    }

    /// Makes who waits look again.
    fn wake(&self) {
        self.turn.fetch_add(1, SeqCst);
        wake(&self.turn);
    }
}

/// A synchronisation point that several disks share: the clients of all of them wait for one value.
#[derive(Clone, Debug, Default)]
pub struct Turnstile(Arc<Point>);

impl Turnstile {
    /// Lets all through that wait for this value or a smaller one.
    pub fn turn(&self, value: i64) {
        self.0.set(value);
    }
}

impl SyncPoints {
    fn new(clients: u32) -> Self {
        Self((0..clients).map(|_| Point::default()).collect())
    }

    /// Sets the point of a client and wakes who waits for it.
    pub fn set(&self, client: u32, value: i64) {
        if let Some(point) = self.0.get(client as usize) {
            point.set(value);
        }
    }

    fn wake_all(&self) {
        self.0.iter().for_each(Point::wake);
    }
}

fn wake(word: &AtomicU32) {
    // It can only fail for a bad address.
    let _ = futex::wake(word, futex::Flags::PRIVATE, i32::MAX as u32);
}

/// Waits while `word` holds `value`; `false` when `until_ns` has come.
fn wait(word: &AtomicU32, value: u32, until_ns: u64) -> bool {
    let now = now_ns();
    if now >= until_ns {
        return false;
    }
    // At most an hour at a time, so that "no end" is a valid timespec.
    let left = (until_ns - now).min(3_600_000_000_000);
    let timeout = Timespec {
        tv_sec: (left / 1_000_000_000) as i64,
        tv_nsec: (left % 1_000_000_000) as rustix::time::Nsecs,
    };
    let _ = futex::wait(word, futex::Flags::PRIVATE, value, Some(&timeout));
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_stop_ends_every_wait() {
        let control = Control::new(2);
        control.set_window(0, u64::MAX);
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| control.sleep(u64::MAX));
            let waiter = scope.spawn(|| control.wait_for(1, 5));
            std::thread::sleep(Duration::from_millis(20));
            control.stop();
            sleeper.join().unwrap();
            assert!(!waiter.join().unwrap());
        });
    }

    #[test]
    fn the_end_of_the_window_ends_a_sleep() {
        let control = Control::new(1);
        let start = Instant::now();
        control.set_window(0, now_ns() + 30_000_000);
        control.sleep(now_ns() + 60_000_000_000);
        assert!((Duration::from_millis(30)..Duration::from_secs(5)).contains(&start.elapsed()));
    }

    /// One turn lets the clients of all disks through; the stop of a disk only its own.
    #[test]
    fn disks_share_a_turnstile() {
        let turnstile = Turnstile::default();
        let disks = [1, 3].map(|clients| Control::with_turnstile(clients, turnstile.clone()));
        disks.iter().for_each(|disk| disk.set_window(0, u64::MAX));
        std::thread::scope(|scope| {
            let waits = disks.each_ref().map(|disk| {
                scope.spawn(|| [1, 2].map(|value| disk.wait_for(disk.turnstile_point(), value)))
            });
            turnstile.turn(1);
            std::thread::sleep(Duration::from_millis(20));
            disks[0].stop();
            std::thread::sleep(Duration::from_millis(20));
            turnstile.turn(2);
            let [stopped, free] = waits.map(|wait| wait.join().unwrap());
            assert_eq!((stopped, free), ([true, false], [true, true]));
        });
    }

    #[test]
    fn a_point_that_has_gone_further_counts_as_reached() {
        let control = Control::new(1);
        control.set_window(0, u64::MAX);
        control.points().set(0, 7);
        assert!(control.wait_for(0, 5));
        assert!(!control.wait_for(9, 0), "there is no client 9");
    }
}
