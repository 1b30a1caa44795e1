"""Two cores for the server and the client together: workers, schedulers, and the access log."""
from . import table
from .servers import BOTH_CORES, Running
from .works import CONNECTIONS

SCHEDULERS = ('per-core', 'stealing')
FEW = (32, 3, 2)
# Fast calls a second beside a slow one, and how long each slow one keeps a core busy.
FAST_RATE, BURN_MS = 2000, 20


def two_workers(name, client, specs):
    for spec in specs:
        if spec.kind == 'bare':
            continue
        for workers in (1, 2):
            with Running(spec, workers=workers, cores=BOTH_CORES) as server:
                yield name, f'{spec.name}, {workers}', client.measure(server, 'closed', '--connections', CONNECTIONS, cores=BOTH_CORES)


def stealing(name, client, specs, slow):
    for spec in specs:
        if not spec.is_twolane:
            continue
        for connections in FEW:
            for scheduler in SCHEDULERS:
                with Running(spec, workers=2, extra=['--scheduler', scheduler], cores=BOTH_CORES) as server:
                    report = client.measure(server, 'closed', '--connections', connections, cores=BOTH_CORES)
                yield name, f'{spec.name}, {scheduler}, {connections}', report
    for scheduler in SCHEDULERS:
        for count in (0, 1):
            with Running(slow, workers=2, extra=['--scheduler', scheduler], cores=BOTH_CORES) as server:
                report = client.measure(server, 'open', '--rate', FAST_RATE, '--connections', CONNECTIONS, '--slow', count,
                                        '--burn', BURN_MS, cores=BOTH_CORES)
            report['slow_per_second'] = report['slow_answers'] / report['seconds']
            yield f'{name}, slow tool', f'{scheduler}, {count} slow', report


def access_log(name, client, specs):
    for spec in specs:
        if not spec.is_twolane:
            continue
        for label, extra in (('off', []), ('on', ['--access-log', '/dev/null'])):
            with Running(spec, extra=extra) as server:
                yield name, f'{spec.name}, {label}', client.measure(server, 'closed', '--connections', CONNECTIONS)


def _times(samples, work, title, base, first):
    """A table of CPU times and rates, each beside that of the server `base` names."""
    rows = []
    for server in samples.servers(work):
        median = lambda key: samples.median(work, server, key)
        both = median('server_us') + median('client_us')
        rows.append([server, table.number(median('server_us')), table.number(samples.ratio(work, server, base(server))),
                     table.number(median('client_us')), table.number(median('per_second')),
                     table.number(median('per_second') * both / 2e6), table.number(median('p50_us'), 0), table.number(median('p99_us'), 0)])
    if not rows:
        return ''
    titles = [first, 'CPU µs/request', '× the first', "client's CPU µs/request", 'requests/s', 'of what two cores allow', 'p50 µs', 'p99 µs']
    return f'### {title}\n\n{table.markdown(titles, rows, words=1)}'


def _fast(samples, work):
    rows = []
    for label in samples.servers(work):
        rows.append([label, *(table.number(samples.median(work, label, key), 0) for key in ('p50_us', 'p99_us', 'p999_us')),
                     table.number(samples.median(work, label, 'slow_per_second'), 0)])
    if not rows:
        return ''
    titles = ['scheduler, slow calls at once', 'p50 µs', 'p99 µs', 'p99.9 µs', 'slow calls/s']
    return (f'### Fast calls, {FAST_RATE} a second, beside a tool that keeps a core busy for {BURN_MS} ms\n\n'
            + table.markdown(titles, rows, words=1))


def tables(samples):
    """The tables of all that is measured here."""
    def first(change):
        return lambda label: change(label.split(', '))
    return [
        _times(samples, 'two-workers', 'One worker and two, on the two cores that the client works on too',
               first(lambda words: f'{words[0]}, 1'), 'server, workers'),
        _times(samples, 'stealing', 'Two workers: a runtime each, or one that moves work between them',
               first(lambda words: f'{words[0]}, per-core, {words[2]}'), 'server, scheduler, connections'),
        _fast(samples, 'stealing, slow tool'),
        _times(samples, 'access-log', 'The access log', first(lambda words: f'{words[0]}, off'), 'server, access log'),
    ]
