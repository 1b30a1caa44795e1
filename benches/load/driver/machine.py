"""The machine: its cores, its quiet, and the accounts it keeps of processes."""
import os
import re
import resource
import socket
import time

# A core that works less than this while nothing is measured counts as quiet, as a share of its time.
QUIET = 0.04
# What else may use the cores during a measurement, in cores.
DISTURBED = 0.08
TICKS = os.sysconf('SC_CLK_TCK')


def raise_open_files():
    """As many open files as the system allows, for this process and those it starts."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def _busy_by_core():
    """Seconds that each core has worked so far."""
    with open('/proc/stat') as stat:
        rows = [line.split()[1:9] for line in stat if re.match(r'cpu\d', line)]
    # user nice system idle iowait irq softirq steal
    return [sum(int(row[at]) for at in (0, 1, 2, 5, 6, 7)) / TICKS for row in rows]


def busy():
    """Seconds that all cores together have worked so far."""
    return sum(_busy_by_core())


def wait_for_quiet(patience):
    """Waits until no core works, but no longer than `patience` seconds."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        before = _busy_by_core()
        time.sleep(0.5)
        if all(now - then <= QUIET * 0.5 + 1.0 / TICKS for then, now in zip(before, _busy_by_core())):
            return


def cpu_seconds(pid):
    """What all threads of a process have used so far, by the scheduler's account."""
    total = 0
    for thread in os.listdir(f'/proc/{pid}/task'):
        try:
            with open(f'/proc/{pid}/task/{thread}/schedstat') as account:
                total += int(account.read().split()[0])
        except FileNotFoundError:
            pass
    return total / 1e9


def resident_kib(pid):
    with open(f'/proc/{pid}/status') as status:
        return int(re.search(r'VmRSS:\s+(\d+)', status.read()).group(1))


def description():
    """One line for the head of a table."""
    model = 'unknown processor'
    with open('/proc/cpuinfo') as cpuinfo:
        found = re.search(r'model name\s*:\s*(.+)', cpuinfo.read())
        if found:
            model = found.group(1).strip()
    return f'{os.cpu_count()} cores, {model}, Linux {os.uname().release}'
