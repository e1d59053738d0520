/** `check --inspect` over a WebSocket: how PID 1 of each container reacts to its stop signal. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { CheckReport } from '../../src/advice/check-report.ts';
import { inspectionOf } from '../../src/advice/inspect.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { kubeconfigFile, listen } from '../kube/helpers/api.ts';

interface Process {
  runs: string[];
  caught?: string;
  ignored?: string;
  blocked?: string;
  hasNoMasks?: true;
}

type Container = Process & { error?: string; command?: string[]; problem?: string; says?: string; because?: string };

const { containers, masks } = parse(readFileSync(new URL('inspect.yaml', import.meta.url), 'utf8')) as {
  containers: Record<string, Container>;
  masks: Record<string, Process & { is: string }>;
};

function statusOf({ caught = '', ignored = '', blocked = '', hasNoMasks }: Process): string {
  const mask = (name: string, bits: string): string => `${name}:\t${bits.padStart(16, '0')}\n`;
  if (hasNoMasks) return 'Name:\tx\nState:\tS\n';
  const signals = mask('SigBlk', blocked) + mask('SigIgn', ignored) + mask('SigCgt', caught);
  return `Name:\tx\nPid:\t1\n${signals}Seccomp:\t2\n`;
}

const commandLineOf = ({ runs }: Process): string => runs.map((word) => `${word}\0`).join('');

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
async function podWith(status: number): Promise<{ flags: string[]; commands: string[] }> {
  const names = Object.keys(containers);
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name: 'web-0', namespace: 'shop', uid: 'u' },
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
    const one = containers[url.searchParams.get('container') ?? ''] as Container;
    const printed = command[1] === '/proc/1/status' ? statusOf(one) : commandLineOf(one);
    const result =
      one.error === undefined
        ? { status: 'Success' }
        : { status: 'Failure', message: one.error, reason: 'InternalError', code: 500 };
    const bytes = Buffer.concat([
      ...(one.error === undefined ? [message(1, printed)] : []),
      ...(one.error === '' ? [] : [message(3, JSON.stringify(result))]),
      Buffer.from([0x88, 0]),
    ]);
    // The network may split frames anywhere.
    socket.write(bytes.subarray(0, 7));
    setTimeout(() => socket.write(bytes.subarray(7)), 2);
  });
  const kubeconfig = await kubeconfigFile({ server: `http://${await listen(server)}` });
  return { flags: ['-n', 'shop', '--kubeconfig', kubeconfig], commands };
}

async function inspect(status: number) {
  const { flags, commands } = await podWith(status);
  const { code, stdout, stderr } = await runMain(['check', 'web-0', '--inspect', '-o', 'json', ...flags]);
  const [one] = (JSON.parse(stdout) as CheckReport).checks;
  expect(code).toBe(0);
  return { commands, stderr, findings: one?.findings ?? [], cannotTell: one?.cannotTell ?? [] };
}

describe('check --inspect', () => {
  it('says of each container what its PID 1 does, or why it cannot tell, and which commands it runs', async () => {
    const { stderr, commands, findings, cannotTell } = await inspect(101);
    expect(stderr).toMatch(
      /--inspect runs cat \/proc\/1\/status and cat \/proc\/1\/cmdline in each container of web-0/,
    );
    expect(new Set(commands)).toEqual(new Set(['cat /proc/1/status', 'cat /proc/1/cmdline']));
    const problems = findings.filter(({ severity }) => severity !== 'info');
    for (const [name, { problem, says = '', because }] of Object.entries(containers)) {
      const own = problems.filter(({ container }) => container === name);
      expect([name, ...own.map(({ code }) => code)]).toEqual([name, ...(problem ? [problem] : [])]);
      if (problem) expect(own[0]?.message).toMatch(new RegExp(says));
      const reason = cannotTell.find(({ container }) => container === name)?.because;
      if (because) expect(reason, name).toMatch(new RegExp(because));
    }
  });

  it('names the needed permission if the exec is refused with 403', async () =>
    expect((await inspect(403)).cannotTell[0]?.because).toBe(
      'the API server refused the exec (403); it needs get and create of pods/exec',
    ));

  it('prints the message of the server if the exec is refused with 500', async () =>
    expect((await inspect(500)).cannotTell[0]?.because).toBe('the exec was refused (500): not allowed'));

  it('lists in the text each container that it could not inspect', async () => {
    const { flags } = await podWith(101);
    const { stdout } = await runMain(['check', 'web-0', '--inspect', ...flags]);
    const text = stdout.replace(/\s+/g, ' ');
    for (const name of ['distroless', 'sleep-without-cat', 'trap-without-cat'])
      expect(text).toMatch(
        new RegExp(`whether ${name} handles [\\w ]+ \\(the container has no cat \\(a distroless image`),
      );
  });
});

const done = (text: string) => ({ kind: 'done' as const, stdout: Buffer.from(text) });

it('with shareProcessNamespace PID 1 is not the application, so it is not judged', () => {
  const status = done(statusOf({ runs: [] }));
  expect(inspectionOf(status, status, 'TERM', true)).toMatchObject({ kind: 'unreadable' });
});

it.each(Object.entries(masks))('%s', (_, one) => {
  const found = inspectionOf(done(statusOf(one)), done(commandLineOf(one)), 'TERM', false);
  expect(found).toMatchObject({ kind: 'read', handling: { kind: one.is } });
});
