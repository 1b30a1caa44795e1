"""System calls, counted by strace. The counts are exact; at many connections fewer waits serve more requests."""
import collections
import shutil
import signal
import subprocess
import tempfile
import time

from . import table
from .servers import Running, Wrong

AT_ONCE = (1, 32)


def missing():
    return None if shutil.which('strace') else 'strace is missing'


def measure(name, client, specs):
    for spec in specs:
        for connections in AT_ONCE:
            with Running(spec) as server, tempfile.NamedTemporaryFile('r') as file:
                tracer = subprocess.Popen(['strace', '-f', '-c', '-o', file.name, '-p', str(server.pid)],
                                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                time.sleep(1)
                if tracer.poll() is not None:
                    raise Wrong(f'strace: {tracer.stderr.read().decode().strip()}')
                report = client.measure(server, 'closed', '--connections', connections, seconds=2, warm=0, once=True)
                tracer.send_signal(signal.SIGINT)
                tracer.communicate(timeout=20)
                calls = counts(file.read())
            each = {call: count / report['answers'] for call, count in calls.items()}
            yield name, f'{spec.name}, {connections}', {'calls': sum(each.values()), **each}


def counts(text):
    """Calls by name, from strace's table."""
    found = collections.Counter()
    for line in text.splitlines():
        words = line.split()
        # % time, seconds, usecs/call, calls, errors where there are some, name
        if len(words) in (5, 6) and words[3].isdigit() and words[-1] != 'total':
            found[words[-1]] = int(words[3])
    return found


def tables(samples):
    rows = []
    for label in samples.servers('strace'):
        report = samples.reports['strace', label][0]
        each = sorted(((count, call) for call, count in report.items() if call != 'calls' and count >= 0.005), reverse=True)
        rows.append([label, table.number(report['calls']), ', '.join(f'{call} {count:.2f}' for count, call in each)])
    if not rows:
        return ''
    return '### System calls for each request\n\n' + table.markdown(['server, connections', 'calls', 'of which'], rows, words=3)
