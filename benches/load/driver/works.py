"""Works that are one load on one server: what each sends."""
from .servers import Running

# name: the client's --work, bytes of the message, requests at once, how many lengths the messages have
PLAIN = {
    'modern-echo': ('modern-echo', 16, 1, 1),
    'varied-echo': ('modern-echo', 16, 1, 64),
    'legacy-echo': ('legacy-echo', 16, 1, 1),
    'legacy-ping': ('legacy-ping', 16, 1, 1),
    'discover': ('discover', 16, 1, 1),
    'bad-origin': ('bad-origin', 16, 1, 1),
    'bad-type': ('bad-type', 16, 1, 1),
    'bad-json': ('bad-json', 16, 1, 1),
    'echo-64k': ('modern-echo', 1 << 16, 1, 1),
    'echo-1m': ('modern-echo', 1 << 20, 1, 1),
    'pipelined-16': ('modern-echo', 16, 16, 1),
}
# hyper answers the same to everything, and its time depends on the bytes alone.
HYPER = ('modern-echo', 'echo-64k', 'echo-1m', 'pipelined-16')
CONNECTIONS = 32


def plain(name, client, servers):
    """One round of a work: a report for each server. The bare responder is given the same requests, whatever it makes of them."""
    work, size, pipeline, lengths = PLAIN[name]
    for spec in servers:
        if spec.kind == 'hyper' and name not in HYPER:
            continue
        with Running(spec, size) as server:
            yield name, spec.name, client.measure(server, 'closed', '--work', work, '--bytes', size, '--lengths', lengths,
                                                  '--pipeline', pipeline, '--connections', CONNECTIONS)
