/** `check --inspect` over a WebSocket: how PID 1 of each container reacts to its stop signal. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CheckReport } from '../../src/advice/check-report.ts';
import { inspectionOf } from '../../src/advice/inspect.ts';
import { runMain } from '../cli/helpers/in-process.ts';

/** What `cat` prints in a container, or how it fails. */
type Container = ({ status: string; cmdline: string } | { error: string }) & { command?: string[] };

const masks = (caught: bigint, ignored = 0n, blocked = 0n): string => {
  const hex = (mask: bigint): string => mask.toString(16).padStart(16, '0');
  return `Name:\tx\nPid:\t1\nSigBlk:\t${hex(blocked)}\nSigIgn:\t${hex(ignored)}\nSigCgt:\t${hex(caught)}\nSeccomp:\t2\n`;
};
const term = 1n << 14n;

/** The message of a kubelet with containerd and runc. */
const noCat =
  'error executing command in container: failed to exec in container: failed to start exec "8d1c": OCI runtime exec failed: exec failed: unable to start container process: exec: "cat": executable file not found in $PATH: unknown';

const containers: Record<string, Container> = {
  'shell-with-trap': { status: masks(term), cmdline: 'sh\0-c\0trap x TERM; /app & wait\0' },
  // A trap runs only after the program in the foreground has ended.
  'shell-with-late-trap': { status: masks(term), cmdline: 'sh\0-c\0trap x TERM; /app\0' },
  shell: { status: masks(1n << 16n), cmdline: '/bin/sh\0/start.sh\0' },
  go: { status: masks(0xfffffffe7bfbfeffn), cmdline: '/api\0' },
  ignoring: { status: masks(0n, term), cmdline: '/legacy\x00--port\x008080\x00' },
  node: { status: masks(0n), cmdline: 'node\0server.js\0' },
  waiting: { status: masks(0n, 0n, term), cmdline: '/sigwait\0' },
  distroless: { error: noCat },
  // The command is enough for a finding, even though the inspection failed.
  'sleep-without-cat': { error: noCat, command: ['sh', '-c', 'rm /bin/cat; exec sleep 3600'] },
  'trap-without-cat': { error: noCat, command: ['sh', '-c', 'trap "exit 0" TERM; while true; do sleep 1; done'] },
  'cat-failed': {
    error: "command terminated with exit code 1: cat: can't open '/proc/1/status': No such file or directory",
  },
  // The connection ends without the exit status of the command.
  cut: { error: '' },
  sandboxed: { status: 'Name:\tx\nState:\tS\n', cmdline: 'x\0' },
};

const files = ({ status, cmdline }: { status: string; cmdline: string }): Record<string, string> => ({
  '/proc/1/status': status,
  '/proc/1/cmdline': cmdline,
});

/** An unmasked frame, as servers send it. Its first byte has the opcode, and 0x80 in the last frame of a message. */
function frame(first: number, payload: Buffer): Buffer {
  const head =
    payload.length < 126
      ? Buffer.from([first, payload.length])
      : Buffer.from([first, 126, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([head, payload]);
}

/** A message that a proxy split into two frames, with a ping between them (RFC 6455 §5.4). */
function message(channel: number, text: string): Buffer {
  const payload = Buffer.concat([Buffer.from([channel]), Buffer.from(text)]);
  const middle = payload.length >> 1;
  const ping = frame(0x89, Buffer.from('?'));
  return Buffer.concat([frame(0x02, payload.subarray(0, middle)), ping, frame(0x80, payload.subarray(middle))]);
}

/** An API server with one pod whose containers answer an exec. */
async function withPod(status: number, work: (flags: string[], commands: string[]) => Promise<void>): Promise<void> {
  const names = Object.keys(containers);
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'web-0',
      namespace: 'shop',
      uid: 'u',
      ownerReferences: [{ kind: 'StatefulSet', name: 'web', uid: 's', controller: true }],
    },
    spec: { containers: names.map((name) => ({ name, image: 'x', command: containers[name]?.command })) },
    status: { phase: 'Running', containerStatuses: names.map((name) => ({ name, state: { running: {} } })) },
  };
  const commands: string[] = [];
  const server = createServer((request, response) => {
    const isPod = request.url?.endsWith('/pods/web-0');
    const list = { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items: [] };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(isPod ? pod : list));
  });
  server.on('upgrade', (request, socket) => {
    // After an upgrade, the handler must end the connection itself.
    socket
      .on('end', () => socket.destroy())
      .on('error', () => socket.destroy())
      .resume();
    const url = new URL(request.url ?? '', 'http://x');
    const command = url.searchParams.getAll('command');
    commands.push(command.join(' '));
    if (status !== 101)
      return socket.end(`HTTP/1.1 ${status} Forbidden\r\ncontent-length: 25\r\n\r\n{"message":"not allowed"}`);
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\nsec-websocket-protocol: v5.channel.k8s.io\r\n\r\n`,
    );
    const one = containers[url.searchParams.get('container') ?? ''];
    const text = one && 'status' in one ? (files(one)[command[1] ?? ''] ?? '') : '';
    const result =
      one && 'error' in one
        ? { status: 'Failure', message: one.error, reason: 'InternalError', code: 500 }
        : { status: 'Success' };
    const bytes = Buffer.concat([
      ...(text === '' ? [] : [message(1, text)]),
      ...('message' in result && result.message === '' ? [] : [message(3, JSON.stringify(result))]),
      Buffer.from([0x88, 0]),
    ]);
    // The network may split frames anywhere.
    socket.write(bytes.subarray(0, 7));
    setTimeout(() => socket.write(bytes.subarray(7)), 2);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const entry = {
    clusters: [{ name: 'c', cluster: { server: address } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user: {} }],
    'current-context': 'c',
  };
  writeFileSync(kubeconfig, JSON.stringify(entry));
  try {
    await work(['-n', 'shop', '--kubeconfig', kubeconfig], commands);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
  }
}

const inspect = async (flags: string[]) => {
  const { code, stdout, stderr } = await runMain(['check', 'web-0', '--inspect', '-o', 'json', ...flags]);
  const [one] = (JSON.parse(stdout) as CheckReport).checks;
  return { code, stderr, findings: one?.findings ?? [], cannotTell: one?.cannotTell ?? [] };
};

describe('check --inspect', () => {
  it('names each PID 1 without a signal handler, and says which commands it runs', () =>
    withPod(101, async (flags, commands) => {
      const { code, stderr, findings } = await inspect(flags);
      expect(code).toBe(0);
      expect(stderr).toMatch(
        /--inspect runs cat \/proc\/1\/status and cat \/proc\/1\/cmdline in each container of web-0/,
      );
      expect(new Set(commands)).toEqual(new Set(['cat /proc/1/status', 'cat /proc/1/cmdline']));
      const problems = findings
        .filter(({ severity }) => severity !== 'info')
        .map(({ code: finding, container }) => `${container} ${finding}`);
      expect(problems.sort()).toEqual([
        'ignoring no-signal-handler',
        'node no-signal-handler',
        'shell shell-as-pid-1',
        'shell-with-late-trap shell-as-pid-1',
        'sleep-without-cat no-signal-handling',
      ]);
      expect(findings.find(({ container }) => container === 'shell')?.message).toContain(
        'PID 1 is `/bin/sh /start.sh`',
      );
      expect(findings.find(({ container }) => container === 'node')?.message).toBe(
        'PID 1 of node (`node server.js`) has no SIGTERM handler: SIGKILL after the grace period of 30s',
      );
    }));

  it('says why it cannot tell: no cat, a sandbox, a blocked signal', () =>
    withPod(101, async (flags) => {
      const { cannotTell } = await inspect(flags);
      const because: Record<string, string> = Object.fromEntries(
        cannotTell.map((one): [string, string] => [one.container ?? '', one.because]).reverse(),
      );
      for (const name of ['distroless', 'sleep-without-cat', 'trap-without-cat'])
        expect(because[name], name).toBe('the container has no cat (a distroless image)');
      expect(because['cat-failed']).toMatch(/^cat failed: .*can't open/);
      expect(because['cut']).toBe('cat failed: the connection ended before the command did');
      expect(because['sandboxed']).toMatch(/sandboxed runtime/);
      expect(because['waiting']).toMatch(/blocks the signal/);
      expect(because['go']).toMatch(/catches all signals, as Go's runtime does by itself/);
    }));

  it('names the needed permission if the exec is refused with 403', () =>
    withPod(403, async (flags) => {
      const { code, cannotTell } = await inspect(flags);
      expect(code).toBe(0);
      expect(cannotTell[0]?.because).toBe(
        'the API server refused the exec (403); it needs get and create of pods/exec',
      );
    }));

  it('prints the message of the server if the exec is refused with 500', () =>
    withPod(500, async (flags) => {
      const { cannotTell } = await inspect(flags);
      expect(cannotTell[0]?.because).toBe('the exec was refused (500): not allowed');
    }));

  it('lists in the text each container that it could not inspect', () =>
    withPod(101, async (flags) => {
      const { stdout } = await runMain(['check', 'web-0', '--inspect', ...flags]);
      const text = stdout.replace(/\s+/g, ' ');
      for (const name of ['distroless', 'sleep-without-cat', 'trap-without-cat'])
        expect(text).toMatch(
          new RegExp(`whether ${name} handles [\\w ]+ \\(the container has no cat \\(a distroless image`),
        );
    }));
});

it('with shareProcessNamespace PID 1 is not the application, so it is not judged', () => {
  const done = { kind: 'done' as const, stdout: Buffer.from(masks(0n)) };
  expect(inspectionOf(done, done, 'TERM', true)).toMatchObject({ kind: 'unreadable' });
});

describe('what the masks of PID 1 prove', () => {
  const handling = (words: string[], status: string) => {
    const done = (text: string) => ({ kind: 'done' as const, stdout: Buffer.from(text) });
    const found = inspectionOf(done(status), done(`${words.join('\0')}\0`), 'TERM', false);
    return found.kind === 'read' ? found.handling : found;
  };

  it.each([
    ['node', 'server.js'],
    ['/usr/local/bin/php', 'worker.php'],
    ['ruby', 'app.rb'],
  ])('a caught signal proves no handler where the runtime catches it: %s', (...words) => {
    const found = handling(words, masks(term));
    expect(found.kind).toBe('depends');
    expect(found).toMatchObject({ because: expect.stringContaining('catches SIGTERM by itself') as string });
  });

  it.each([
    ['python3', 'app.py'],
    ['perl', 'app.pl'],
    ['/opt/app/server', ''],
  ])('a caught signal proves a handler elsewhere: %s', (...words) => {
    expect(handling(words, masks(term)).kind).toBe('handles');
  });

  it('reads the masks as the kernel prints them: node 20, python 3.11 and dash without a handler', () => {
    const status = (name: string, ignored: string, caught: string) =>
      `Name:\t${name}\nPid:\t1\nSigBlk:\t0000000000000000\nSigIgn:\t${ignored}\nSigCgt:\t${caught}\n`;
    expect(handling(['node', 'a.js'], status('node', '0000000001001000', '0000000100004602')).kind).toBe('depends');
    expect(handling(['python3', 'a.py'], status('python3', '0000000001001006', '0000000000000000')).kind).toBe(
      'ignores',
    );
    expect(handling(['dash', '-c', 'node a.js'], status('dash', '0000000000000006', '0000000000010000')).kind).toBe(
      'shell',
    );
  });

  it('Java ends on SIGTERM whatever the application does', () => {
    expect(handling(['java', '-jar', 'app.jar'], masks(term)).kind).toBe('handles');
  });

  it('a program of the table that is written in Go handles what its row says', () => {
    expect(handling(['etcd'], masks(0xfffffffe7bfbfeffn)).kind).toBe('handles');
  });

  it('tini acts without a bit in SigCgt', () => {
    expect(handling(['tini', '--', 'nginx'], masks(0n)).kind).toBe('handles');
    expect(handling(['tini', '--', '/app'], masks(0n, 0n, term)).kind).not.toBe('ignores');
  });

  it('a program that blocks its signal handles it only if the table knows so', () => {
    expect(handling(['named', '-f'], masks(0n, 0n, term)).kind).toBe('handles');
    expect(handling(['mpd', '--no-daemon'], masks(0n, 0n, term)).kind).toBe('handles');
    expect(handling(['/sigwait'], masks(0n, 0n, term)).kind).toBe('depends');
  });
});
