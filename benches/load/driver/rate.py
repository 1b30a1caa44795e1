"""Latency at a fixed rate: half of what the bare responder does at most, measured in the same round."""
from . import table
from .servers import Running
from .works import CONNECTIONS


def measure(name, client, specs, bare):
    """One round: a report for each server, at the round's rate."""
    with Running(bare) as server:
        rate = client.measure(server, 'closed', '--connections', CONNECTIONS)['per_second'] / 2
    for spec in specs:
        with Running(spec) as server:
            report = client.measure(server, 'open', '--rate', rate, '--connections', CONNECTIONS)
        yield name, spec.name, report | {'rate': rate}


def tables(samples):
    rows = []
    for server in samples.servers('rate-half'):
        median = lambda key: samples.median('rate-half', server, key)
        rows.append([server, table.number(median('rate')), table.number(median('per_second')), table.number(median('p50_us'), 0),
                     table.number(median('p99_us'), 0), table.number(samples.ratio('rate-half', server, 'bare', 'p99_us')),
                     table.number(median('p999_us'), 0), table.number(median('unanswered'), 0), table.number(median('server_us'))])
    if not rows:
        return ''
    titles = ['server', 'wanted/s', 'answered/s', 'p50 µs', 'p99 µs', "× bare's p99", 'p99.9 µs', 'unanswered at the end', 'CPU µs/request']
    return f"### At half of the bare responder's rate\n\n{table.markdown(titles, rows, words=1)}"
