"""The clients: our own, and h2load for HTTP/2."""
import json
import os
import re
import subprocess
import tempfile
import time

from . import machine
from .servers import CLIENT_CORE, Wrong


class Client:
    """Runs load clients beside servers; disturbed runs are repeated."""

    def __init__(self, load, options):
        self.load, self.seconds, self.patience, self.tries = load, options.secs, options.patience, options.tries

    def measure(self, server, mode, *flags, cores=CLIENT_CORE, seconds=None, warm=1.0, once=False):
        """One run of our client: what it reports. A run during which something else used the cores is repeated, unless it need not be
        calm; the calmest counts."""
        command = ['taskset', '-c', cores, self.load, mode, '--port', str(server.port), '--pid', str(server.pid),
                   '--seconds', str(seconds or self.seconds), '--warm', str(warm), *map(str, flags)]
        if server.spec.canned:
            command.append('--canned')
        return self._report(command) if once else self._calmest(lambda: self._report(command))

    def _calmest(self, run):
        best = None
        for _ in range(self.tries):
            machine.wait_for_quiet(self.patience)
            report = run()
            others = report['cores_seconds'] - report['server_seconds'] - report['client_seconds']
            report['others'] = others / report['seconds']
            if best is None or report['others'] < best['others']:
                best = report
            if best['others'] <= machine.DISTURBED:
                break
        return best

    def _report(self, command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise Wrong(f'{" ".join(command)}: {(done.stderr or done.stdout).strip()[-1500:]}')
        return json.loads(done.stdout)

    def hold(self, server, what, count):
        """Holds much of one kind: `with client.hold(…)`."""
        return Held([self.load, 'hold', '--port', str(server.port), '--what', what, '--count', str(count)]
                    + (['--canned'] if server.spec.canned else []))

    def request(self, work, size=16):
        """Header fields and body of a request, for h2load."""
        command = [self.load, 'print', '--work', work, '--bytes', str(size)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        head, _, body = text.partition('\n\n')
        return head.splitlines(), body.rstrip('\n')

    def h2(self, server, connections, streams):
        """One run of h2load over HTTP/2 with prior knowledge. It checks statuses only: so the first answer is checked beforehand, and
        the answers to the same request must all be as long as that one."""
        probe = self._report([self.load, 'probe-h2', '--port', str(server.port)]
                             + (['--canned'] if server.spec.canned else []))
        fields, body = self.request('modern-echo')
        with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
            file.write(body)
            file.flush()
            command = ['taskset', '-c', CLIENT_CORE, 'h2load', '-t', '1', '-c', str(connections), '-m', str(streams),
                       '-d', file.name, f'http://127.0.0.1:{server.port}/mcp']
            for field in fields:
                command += ['-H', field]
            trial = self._h2load(command, 20_000, probe, server)
            count = max(20_000, int(trial['per_second'] * self.seconds))
            return self._calmest(lambda: self._h2load(command, count, probe, server))

    @staticmethod
    def _h2load(command, count, probe, server):
        cores, used, start = machine.busy(), machine.cpu_seconds(server.pid), time.monotonic()
        process = subprocess.Popen([*command, '-n', str(count)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = process.stdout.read().decode()
        _, status, client = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        seconds = time.monotonic() - start
        used, cores = machine.cpu_seconds(server.pid) - used, machine.busy() - cores
        good = re.search(r'status codes: (\d+) 2xx', text)
        data = re.search(r'traffic:.*?\((\d+)\) data', text)
        rate = re.search(r'finished in .*?, ([\d.]+) req/s', text)
        if process.returncode or not (good and data and rate):
            raise Wrong(f'{" ".join(command)}: {text[-1500:]}')
        if int(good.group(1)) != count or int(data.group(1)) != count * probe['length']:
            raise Wrong(f'wrong answers over HTTP/2, of {probe["length"]} bytes each:\n{text[-1500:]}')
        client = client.ru_utime + client.ru_stime
        return {'seconds': seconds, 'answers': count, 'per_second': float(rate.group(1)), 'server_us': used / count * 1e6,
                'client_us': client / count * 1e6, 'server_seconds': used, 'client_seconds': client, 'cores_seconds': cores,
                'resident_kib': machine.resident_kib(server.pid)}


class Held:
    """A client that holds connections, sessions or streams open."""

    def __init__(self, command):
        self.command = command

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if not self.process.stdout.readline():
            said = self.process.communicate()[1]
            raise Wrong(f'{" ".join(self.command)}: {said.strip()[-1500:]}')
        return self

    def __exit__(self, kind, *_):
        _, said = self.process.communicate()
        if self.process.returncode and kind is None:
            raise Wrong(f'{" ".join(self.command)}: {said.strip()[-1500:]}')
