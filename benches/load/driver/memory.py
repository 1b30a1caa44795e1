"""What an idle connection, session and event stream cost in resident memory."""
import time

from . import machine, table
from .servers import Running

# Held and let go before anything is measured, so that the first use of code and tables is paid for.
FIRST = 100
# Seconds for a server to notice that all is idle.
SETTLE = 3
KINDS = ('connections', 'sessions', 'connected-sessions', 'streams', 'listeners')


def growth(client, spec, kind, count):
    """KiB for each that is held."""
    with Running(spec) as server:
        with client.hold(server, kind, FIRST):
            pass
        time.sleep(1)
        before = machine.resident_kib(server.pid)
        with client.hold(server, kind, count):
            time.sleep(SETTLE)
            return (machine.resident_kib(server.pid) - before) / count


def measure(name, client, specs, count):
    """A report for each server. A stream has a connection and a session, and a listener has a connection: theirs is what comes on top."""
    for spec in specs:
        kinds = KINDS[:1] if spec.canned else KINDS
        held = {kind: growth(client, spec, kind, count) for kind in kinds}
        report = {'count': count, 'connection': held['connections'], **held}
        if not spec.canned:
            report['session'] = held['sessions']
            report['stream'] = held['streams'] - held['connected-sessions']
            report['listener'] = held['listeners'] - held['connections']
        yield name, spec.name, report


def tables(samples):
    rows, count = [], None
    for server in samples.servers('memory'):
        count = samples.median('memory', server, 'count')
        rows.append([server, *(table.number(samples.median('memory', server, key)) for key in
                               ('connection', 'session', 'stream', 'listener', 'connected-sessions', 'streams'))])
    if not rows:
        return ''
    titles = ['server', 'connection', 'session', 'GET stream, on top', 'modern listener, on top', 'connection with session',
              'the same with its stream']
    return f'### Resident KiB for each idle one, at {count:.0f}\n\n{table.markdown(titles, rows, words=1)}'
