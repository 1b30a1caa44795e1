"""Medians, and tables of them."""
import statistics


class Samples:
    """Reports by work and server, round after round."""

    def __init__(self):
        self.reports = {}

    def add(self, work, server, report):
        self.reports.setdefault((work, server), []).append(report)

    def works(self):
        return list(dict.fromkeys(work for work, _ in self.reports))

    def servers(self, work):
        return [server for named, server in self.reports if named == work]

    def median(self, work, server, key):
        """The median over the rounds; None where there is nothing."""
        values = [report[key] for report in self.reports.get((work, server), []) if report.get(key) is not None]
        return statistics.median(values) if values else None

    def ratio(self, work, over, under, key='server_us'):
        above, below = self.median(work, over, key), self.median(work, under, key)
        return above / below if above is not None and below else None

    def json(self):
        return [{'work': work, 'server': server, 'median': {key: self.median(work, server, key) for key in reports[0]},
                 'rounds': reports} for (work, server), reports in self.reports.items()]


def number(value, digits=2):
    if value is None:
        return ''
    if value >= 1000:
        return f'{value:.0f}'
    return f'{value:.{digits}f}' if value < 100 else f'{value:.1f}'


def markdown(titles, rows, words=2):
    """A table; the first columns are words."""
    lines = ['| ' + ' | '.join(titles) + ' |', '|' + ''.join(' --- |' if at < words else ' ---: |' for at in range(len(titles)))]
    return '\n'.join(lines + ['| ' + ' | '.join(map(str, row)) + ' |' for row in rows]) + '\n'


def costs(samples, works, title, floor, peer=None):
    """The table of CPU times: as multiples of the floor's, and as fractions of the peer's."""
    rows = []
    for work in works:
        for server in samples.servers(work):
            ratios = [number(samples.ratio(work, server, floor))]
            if peer:
                ratios.append(number(samples.ratio(work, peer, server)))
            median = lambda key: samples.median(work, server, key)
            rows.append([work, server, number(median('server_us')), *ratios, number(median('per_second')), number(median('p50_us'), 0),
                         number(median('p99_us'), 0), number(median('resident_kib')), number(median('client_us'))])
    if not rows:
        return ''
    titles = ['work', 'server', 'CPU µs/request', f'× {floor}', *([f'× less than {peer}'] if peer else []), 'requests/s', 'p50 µs', 'p99 µs', 'RSS KiB',
              "client's CPU µs/request"]
    return f'### {title}\n\n{markdown(titles, rows)}'


def pipelining(samples):
    """What a request costs among sixteen, beside what it costs alone."""
    rows = []
    for server in samples.servers('pipelined-16'):
        alone, among = (samples.median(work, server, 'server_us') for work in ('modern-echo', 'pipelined-16'))
        if alone:
            rows.append([server, number(alone), number(among), number(among / alone)])
    if not rows:
        return ''
    return '### Pipelined by 16\n\n' + markdown(['server', 'CPU µs/request alone', 'CPU µs/request among 16', 'ratio'], rows, words=1)
