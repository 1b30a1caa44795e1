"""HTTP/2 with prior knowledge, driven by h2load."""
import shutil

from .servers import Running

# name: connections, streams at once on each
WORKS = {'h2-4x32': (4, 32), 'h2-32x1': (32, 1)}


def missing():
    return None if shutil.which('h2load') else 'h2load is missing (package nghttp2-client)'


def measure(name, client, specs):
    """One round: a report for each server that speaks HTTP/2."""
    connections, streams = WORKS[name]
    for spec in specs:
        if spec.kind == 'bare':
            continue
        with Running(spec, extra=['--http2'] if spec.kind == 'hyper' else []) as server:
            yield name, spec.name, client.h2(server, connections, streams)
