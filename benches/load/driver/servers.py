"""The servers: how each is started, and what it can do."""
import dataclasses
import os
import socket
import subprocess
import sys
import time

from . import machine

SERVER_CORE, CLIENT_CORE, BOTH_CORES = '0', '1', '0,1'
SLOW = 'slow-tool'


class Wrong(Exception):
    """Something that makes every figure of this run worthless."""


@dataclasses.dataclass(frozen=True)
class Spec:
    """A server that can be started."""
    name: str
    kind: str  # twolane, bare, hyper, rmcp, slow
    binary: str

    @property
    def canned(self):
        """Whether it answers the same to everything."""
        return self.kind in ('bare', 'hyper')

    @property
    def is_twolane(self):
        return self.kind == 'twolane'

    def command(self, port, size, workers, extra):
        if self.kind == 'twolane':
            # As many connections as are held; more than the default.
            return [self.binary, 'serve', '--listen', f'127.0.0.1:{port}', '--workers', str(workers),
                    '--connections', '20000', '--log', 'error', *extra]
        if self.kind == 'bare':
            return [self.binary, '--port', str(port), '--bytes', str(size)]
        if self.kind == 'hyper':
            return [self.binary, '--port', str(port), '--bytes', str(size), '--workers', str(workers), *extra]
        return [self.binary, '--port', str(port), '--workers', str(workers), *extra]


class Running:
    """A server process, from its start to its end: `with Running(spec) as server`."""

    def __init__(self, spec, size=16, workers=1, extra=(), cores=SERVER_CORE):
        self.spec, self.port = spec, machine.free_port()
        self.command = ['taskset', '-c', cores, *spec.command(self.port, size, workers, extra)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        # taskset becomes the server: the process is the same.
        self.pid = self.process.pid
        until = time.monotonic() + 20
        while not self._listens():
            if self.process.poll() is not None or time.monotonic() > until:
                self.process.kill()
                said = self.process.communicate()[1].decode(errors='replace')
                raise Wrong(f'{" ".join(self.command)} does not listen: {said.strip()[-500:]}')
            time.sleep(0.05)
        time.sleep(0.2)
        return self

    def _listens(self):
        try:
            socket.create_connection(('127.0.0.1', self.port), 1).close()
            return True
        except OSError:
            return False

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.communicate(timeout=3)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()


def build(root, folder, server, programs, verbose):
    """Builds these programs of the folder and, unless it is given, the server: where the first are, and the server's binary."""
    quiet = [] if verbose else ['--quiet']

    def cargo(directory, names, *flags):
        print(f'building {", ".join(names)} …', file=sys.stderr, flush=True)
        flags = [*flags, *(word for name in names for word in ('--bin', name))]
        target = ['--target-dir', os.path.join(directory, 'target')]
        subprocess.run(['cargo', 'build', '--release', '--locked', *quiet, *target, *flags], cwd=directory, check=True)

    if not server:
        cargo(root, ['twolane'])
        server = os.path.join(root, 'target/release/twolane')
    if not os.access(server, os.X_OK):
        raise SystemExit(f'--server {server}: there is no such program')
    # Apart from the others, which need not be built again when the server has changed.
    cargo(folder, [name for name in programs if name != SLOW])
    if SLOW in programs:
        cargo(folder, [SLOW], '-p', SLOW)
    return os.path.join(folder, 'target/release'), os.path.abspath(server)


def specs(binaries, server, also):
    """All servers, by name."""
    found = [Spec('twolane', 'twolane', server)]
    for entry in also:
        name, _, binary = entry.partition('=')
        if not os.access(binary, os.X_OK):
            raise SystemExit(f'--also {entry}: write NAME=BINARY')
        found.append(Spec(name, 'twolane', os.path.abspath(binary)))
    for name, kind in (('bare', 'bare'), ('hyper-fixed', 'hyper'), ('rmcp-lean', 'rmcp'),
                       (SLOW, 'slow')):
        found.append(Spec(name, kind, os.path.join(binaries, name)))
    return {spec.name: spec for spec in found}
