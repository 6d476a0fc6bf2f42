"""What scripts/versus-dbench and scripts/versus-fio have in common: disks that go away again, programs
that are run and watched, and how pairs are summed up."""

import collections
import contextlib
import csv
import ctypes
import os
import pathlib
import re
import resource
import shutil
import signal
import statistics
import subprocess
import tempfile
import threading
import time

REPO = pathlib.Path(__file__).resolve().parent.parent
BINARY = REPO / "target" / "release" / "jbodbench"


class Failed(Exception):
    """A program that did not give a result."""


def run(*command):
    """A command that must succeed; its output."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[-1000:]}")
    return done.stdout


# --- disks


def parse_disks(text):
    """`tmpfs:12`, `ext4:12:2g`: kind, count and size."""
    found = re.fullmatch(r"(tmpfs|ext4|xfs|btrfs):(\d+)(?::(\d+[mg]))?", text)
    if not found or int(found[2]) < 1:
        raise ValueError("expected KIND:COUNT or KIND:COUNT:SIZE, such as tmpfs:12 or ext4:12:2g; kinds: tmpfs, ext4, xfs, btrfs")
    return found[1], int(found[2]), found[3] or "1g"


@contextlib.contextmanager
def disks(kind, count, size):
    """Makes file systems, in memory or in sparse files on loop devices; yields where they are mounted.

    Whatever happens, also after Ctrl-C or SIGTERM, they are unmounted and their files removed.
    """
    if os.geteuid():
        raise Failed("mounting needs root")
    top = pathlib.Path(tempfile.mkdtemp(prefix="versus-"))
    mounted = []
    old = signal.signal(signal.SIGTERM, lambda *_: exec_exit())
    try:
        for number in range(count):
            point = top / f"d{number:02}"
            point.mkdir()
            if kind == "tmpfs":
                run("mount", "-t", "tmpfs", "-o", f"size={size}", "versus", point)
            else:
                image = top / f"image{number:02}"
                run("truncate", "-s", size.upper(), image)
                run(f"mkfs.{kind}", "-q", "-F" if kind == "ext4" else "-f", image)
                run("mount", "-t", kind, "-o", "loop", image, point)
            mounted.append(point)
        yield [str(point) for point in mounted]
    finally:
        ignored = [signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGHUP)]
        left = [point for point in mounted if not unmount(point)]
        if not left:
            shutil.rmtree(top)
        signal.signal(signal.SIGINT, ignored[0])
        signal.signal(signal.SIGHUP, ignored[1])
        signal.signal(signal.SIGTERM, old)
        if left:
            raise Failed(f"cannot unmount {' '.join(map(str, left))}: something still uses them")


def exec_exit():
    raise SystemExit(143)


def unmount(point):
    """Unmounts; a process that has just ended may still hold a file for a moment."""
    for _ in range(50):
        if subprocess.run(["umount", point], capture_output=True).returncode == 0:
            return True
        time.sleep(0.2)
    return False


# --- programs


class Cpu:
    """CPU time of the children that end within the block."""

    def __enter__(self):
        self.before = resource.getrusage(resource.RUSAGE_CHILDREN)
        return self

    def __exit__(self, *_):
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.user = now.ru_utime - self.before.ru_utime
        self.system = now.ru_stime - self.before.ru_stime
        self.all = self.user + self.system
        self.user_share = self.user / self.all if self.all else 0.0


def adopt_orphans():
    """Makes this process the parent of processes whose own parent ends.

    jbodbench's first process does not wait for the one that does the work, so its CPU time would be
    counted to init.
    """
    PR_SET_CHILD_SUBREAPER = 36
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise Failed("cannot become a subreaper")


def reap_orphans():
    """Waits until no child is left."""
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass


def end(process):
    """Ends a process that may still run, and waits for it."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def jbodbench(binary, options, dirs, watch=lambda process: None, kind="summary"):
    """Runs jbodbench; its summary rows, or those of another kind. `watch` is called with the running process."""
    with tempfile.TemporaryDirectory(prefix="versus-out-") as directory:
        out, said = os.path.join(directory, "out.csv"), os.path.join(directory, "said")
        command = [str(binary), "run", *map(str, options), "--progress", "none", "--out", out, *dirs]
        with open(said, "w") as file:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
            try:
                watch(process)
                process.wait()
            finally:
                end(process)
        reap_orphans()
        if process.returncode:
            raise Failed(f"jbodbench ended with {process.returncode}:\n{pathlib.Path(said).read_text()[-2000:]}")
        with open(out, newline="") as result:
            return [row for row in csv.DictReader(result) if row["row"] == kind]


def row_of(rows, op):
    """The row of an operation over all disks; with one disk, its own."""
    rows = [row for row in rows if row["op"] == op]
    row = next((row for row in rows if row["disk"] == "all" and row["ops_per_s"]), None)
    if row is None:
        row = rows[0] if len({row["disk"] for row in rows} - {"all"}) == 1 else None
    if row is None:
        raise Failed(f"jbodbench's result has no row of all disks for {op}")
    return row


# --- memory

Memory = collections.namedtuple("Memory", "available shmem")


def memory():
    """MemAvailable and Shmem in bytes."""
    lines = dict(line.split(":") for line in open("/proc/meminfo"))
    return Memory(*(int(lines[name].split()[0]) * 1024 for name in ("MemAvailable", "Shmem")))


class MemoryTaken:
    """What the programs within the block took, in bytes, without their files on tmpfs.

    The fall of MemAvailable less the rise of Shmem, sampled five times a second; of these the median
    of those that are at least half the largest, so that start and end of the programs do not count.
    """

    def __enter__(self):
        self.before, self.samples, self.done = memory(), [], threading.Event()
        self.thread = threading.Thread(target=self.sample)
        self.thread.start()
        return self

    def sample(self):
        while not self.done.wait(0.2):
            now = memory()
            self.samples.append(self.before.available - now.available - (now.shmem - self.before.shmem))

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()
        most = max(self.samples, default=0)
        high = [sample for sample in self.samples if sample >= most / 2 > 0]
        self.bytes = statistics.median(high) if high else None


# --- sums


def spread(values):
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return f"median {middle:.3f}, quartiles {low:.3f}..{high:.3f}, all {min(values):.3f}..{max(values):.3f}"


def percent(shares):
    shares = [share for share in shares if share is not None]
    return f"{100 * statistics.median(shares):.1f} %" if shares else "unknown"
