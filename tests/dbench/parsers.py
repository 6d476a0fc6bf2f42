"""What those who read dbench's output find in it: a line `reader key value` for each finding.

Written from what their scripts are known to match (docs/dbench.md has the list); no code of theirs.
"""
import re
import sys

text = sys.stdin.read()
lines = text.splitlines()


def say(reader, key, value):
    print(reader, key, value)


for line in lines:
    # lkp-tests: takes the line apart at "=", and what is before it at blanks.
    if re.match(r"Throughput*", line):
        before, latency = line.split("=")
        words = before.split()
        say("lkp", "throughput", words[1])
        say("lkp", "clients", words[3])
        say("lkp", "procs", words[5])
        say("lkp", "latency", latency.split()[0])
    # autotest and avocado, made for dbench 3.
    found = re.search(r"Throughput (.*?) MB/sec (.*?) procs", line)
    if found:
        say("autotest", "throughput", found[1])
        say("autotest", "procs", found[2].split()[-1])
    # LizardFS and SaunaFS, in awk.
    if re.match(r"Throughput [0-9.]+ MB.s", line):
        say("lizardfs", "throughput", line.split()[1])
    # The old xfstests bench, in perl.
    found = re.search(r"Throughput (\S+) MB/sec", line)
    if found:
        say("xfstests", "throughput", found[1])
    # Phoronix: a template line, its numbers left open.
    found = re.fullmatch(
        r"Throughput (\S+) MB/sec  (\d+) clients  (\d+) procs  max_latency=(\S+) ms", line)
    if found:
        say("phoronix", "throughput", found[1])
    # mmtests: columns of the lines of seconds and of passes.
    words = line.split()
    if "execute" in line:
        say("mmtests", "second", words[5])
        say("mmtests", "mb_per_s", words[2])
    if "completed in" in line:
        say("mmtests", "pass_at_s", float(words[7]) / 1000)
        say("mmtests", "pass_ms", words[3])

# mmtests: what stands below the heading of the table, up to 99 lines.
for at, line in enumerate(lines):
    if "Operation" in line:
        for row in lines[at + 2:at + 100]:
            words = row.split()
            if len(words) != 4:
                break
            say("mmtests", "op", words[0])
            say("mmtests", "avg", words[2])
        break

# dbench 5, --machine-readable.
for line in lines:
    if line.startswith("@"):
        phase, active, done, rate, second, latency = line.strip("@").split("@")
        say("machine", "phase", phase)
        float(rate), int(second), int(active), int(done), float(latency)
    if line.startswith(":"):
        name, count, mean, longest = line.strip(":").split(":")
        say("machine", "op", name)
        say("machine", "count", count)
        float(mean), float(longest)
    if line.startswith(";"):
        rate, clients, procs, latency = line.strip(";").split(";")
        say("machine", "throughput", rate)
        say("machine", "clients", clients)
        say("machine", "procs", procs)
