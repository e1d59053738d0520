import { expect, it } from 'vitest';
import fc from 'fast-check';
import type { ProgramContainer, StopBehaviour } from '../../src/programs/behaviour.ts';
import { knownEnd, stopBehaviour } from '../../src/programs/stop-behaviour.ts';

const of = (container: ProgramContainer, signal = 'TERM', grace = 30): StopBehaviour =>
  stopBehaviour(container, signal, grace);
const answers = ({ reachesApp, handles, drains }: StopBehaviour) => [reachesApp, handles, drains].join(' ');

it('says of a program that it does not know what decides, and quotes no argument', () => {
  const found = of({ command: ['/opt/acme/acme-broker', '--port=80'] });
  expect(answers(found)).toBe('yes unknown unknown');
  expect(found.decidedBy).toContain('acme-broker');
  expect(JSON.stringify(found)).not.toContain('--port');
});

it('knows /bin/sh by the base system of the image', () => {
  const line = { command: ['sh', '-c', 'node app.js'] };
  expect(answers(of({ ...line, image: 'node:20' }))).toBe('no no no');
  expect(of({ ...line, image: 'python:3.12-slim' }).reachesApp).toBe('no');
  expect(of({ ...line, image: 'oraclelinux:9-slim' }).reachesApp).toBe('yes');
  expect(of({ ...line, image: 'node:20-alpine' })).toMatchObject({ reachesApp: 'yes', handles: 'unknown' });
  expect(of({ ...line, image: 'registry.example/app:1' })).toMatchObject({
    reachesApp: 'unknown',
    decidedBy: expect.stringMatching(
      /dash \(Debian, Ubuntu\): only SIGKILL ends it; .*ash \(Alpine, busybox\): the app/,
    ) as string,
  });
});

it('follows a chain: npm on Debian ends at once and takes the application with it', () => {
  const found = of({ command: ['npm', 'start'], image: 'node:22' });
  expect(found).toMatchObject({ reachesApp: 'no', handles: 'yes', drains: 'no', exitCodes: { cut: [1] } });
  expect(of({ command: ['npm', 'start'], image: 'node:22-alpine' }).reachesApp).toBe('yes');
  expect(of({ command: ['tini', '--', 'npm', 'start'], image: 'node:22' }).exitCodes.cut).toEqual([143]);
});

it('names both outcomes where the version decides, which no spec shows', () => {
  const found = of({ command: ['yarn', 'start'], image: 'node:22' });
  expect(found).toMatchObject({ reachesApp: 'unknown', handles: 'unknown', remedy: { kind: 'exec-form' } });
  expect(found.decidedBy).toMatch(/1 ends at once .* 2 goes on until SIGKILL; 3 and later pass the signal on and wait/);
});

it('knows the program of an image only by its Dockerfile, not by the last part of its name', () => {
  expect(of({ image: 'quay.io/prometheus/prometheus:v3', args: ['--config.file=/p.yaml'] }).reachesApp).toBe('yes');
  for (const image of ['acme/prometheus:3', 'lscr.io/linuxserver/nginx', 'bitnami/redis:8', 'acme/webhook:1'])
    expect(of({ image }).reachesApp).toBe('unknown');
  expect(of({ image: 'haproxy:3', args: ['-f', '/haproxy.cfg'] }).handles).toBe('yes');
  expect(of({ image: 'redis:8', args: ['--save', ''] })).toMatchObject({ reachesApp: 'yes', handles: 'yes' });
});

it.each(['bundle exec', 'poetry run', 'uv run', 'pipenv run', 'doppler run --', 'ddtrace-run', 'pnpm exec'])(
  'finds the command behind %s',
  (wrapper) => {
    const { chain } = of({ command: [...wrapper.split(' '), 'gunicorn', 'app:app'], image: 'debian:12' });
    expect(chain.slice(1).map(({ name }) => name)).toEqual(['gunicorn']);
  },
);

it('knows no exit code of a program that is documented without one', () => {
  expect(of({ command: ['loki'] }).exitCodes).toEqual({ good: [], cut: [] });
  expect(of({ command: ['squid', '-N'] }).exitCodes.good).toEqual([0]);
});

it('says of a script in package.json only what is probable, as it may begin with exec', () => {
  expect(of({ command: ['npm', 'start'], image: 'node:22' }).probably).toBe(true);
});

it('puts the limit of a program against the grace period', () => {
  expect(of({ command: ['squid', '-N'] })).toMatchObject({ limitSeconds: 31.5, remedy: { kind: 'setting' } });
  expect(of({ command: ['gunicorn', 'app:app'] }).limitSeconds).toBe(30);
  expect(of({ command: ['gunicorn', '--graceful-timeout=55', 'app:app'] }).limitSeconds).toBe(55);
});

it('names the signal that drains', () => {
  expect(of({ command: ['nginx', '-g', 'daemon off;'] })).toMatchObject({ drains: 'no', rightSignal: 'SIGQUIT' });
  expect(of({ image: 'nginx:1.27' }, 'QUIT').drains).toBe('yes');
  expect(of({ image: 'postgres:16' }, 'INT').handles).toBe('yes');
  expect(of({ image: 'php:8.3-fpm-alpine' }, 'QUIT').because).toContain('php-fpm');
  expect(of({ image: 'php:8.3-cli' }, 'TERM').because).toContain('the application in PHP');
});

it('tells a normal end from a failure by the program and its exit code, only where that is certain', () => {
  expect(knownEnd({ program: 'lighttpd' }, 'SIGTERM', 1)?.isNormal).toBe(true);
  expect(knownEnd({ program: 'lighttpd' }, 'SIGTERM', 255)).toBeUndefined();
  expect(knownEnd({ program: 'npm', image: 'node:22' }, undefined, 1)?.isNormal).toBe(false);
  expect(knownEnd({ program: 'npm', image: 'node:22-alpine' }, undefined, 1)).toBeUndefined();
  expect(knownEnd({ program: 'tail', image: 'debian:12' }, 'SIGTERM', 137)?.because).toContain('tail has no handler');
  // What its options and its version decide, and what an application may do itself.
  for (const [program, code] of [
    ['uwsgi', 30],
    ['nats-server', 1],
    ['ruby', 1],
    ['sh', 1],
  ] as const)
    expect(knownEnd({ program }, 'SIGTERM', code)).toBeUndefined();
  expect(knownEnd({}, 'SIGTERM', 1)).toBeUndefined();
});

it('says that a sleep in the foreground postpones a trap', () => {
  const script = 'trap "exit 0" TERM; while true; do sleep 60; done';
  expect(of({ command: ['sh', '-c', script], image: 'busybox:1' }, 'TERM', 20)).toMatchObject({
    handles: 'no',
    remedy: { text: expect.stringContaining('sleep 60 & wait $!') as string },
  });
  expect(of({ command: ['sh', '-c', script.replace('60', '1')], image: 'busybox:1' }, 'TERM', 20).handles).toBe('yes');
  const scripts = new Map([['/scripts/run.sh', `#!/bin/sh\n${script}\n`]]);
  expect(of({ command: ['sh', '/scripts/run.sh'], image: 'alpine:3', scripts }, 'TERM', 20).handles).toBe('no');
});

it('leaves a script of builtins alone, which ends by itself', () => {
  expect(answers(of({ command: ['/bin/sh', '-c', 'date; echo Hello'], image: 'busybox:1.28' }))).toBe('yes yes yes');
});

it.each([
  [['sh', '-ce']],
  [['bash', '-cex']],
  [['/bin/bash', '-ecx']],
  [['sh', '-c', '-x']],
  [['bash', '-o', 'pipefail', '-c']],
  [['bash', '-euxo', 'pipefail', '-c']],
  [['bash', '--login', '-c']],
  [['bash', '-O', 'extglob', '-c']],
  [['busybox', 'sh', '-c']],
  [['/usr/bin/env', 'bash', '-c']],
  [['/usr/bin/env', '-S', 'bash -c']],
])('reads the options of %j', (command) => {
  const line = command[1] === '-S' ? "'while true; do sleep 5; done'" : 'while true; do sleep 5; done';
  const found =
    command[1] === '-S'
      ? of({ command: ['env', '-S', 'bash', '-c', 'while true; do sleep 5; done'] })
      : of({ command: [...command, line], image: 'debian:12' });
  expect(found.handles).toBe('no');
});

const links = [
  { words: ['gosu', 'app'], keeps: true },
  { words: ['env', 'A=1'], keeps: true },
  { words: ['nice', '-n', '5'], keeps: true },
  { words: ['tini', '--'], keeps: true },
  { words: ['sudo', '-u', 'app'], keeps: true },
  { words: ['timeout', '--foreground', '1h'], keeps: true },
  { words: ['flock', '/lock'], keeps: false },
  { words: ['xargs'], keeps: false },
  { words: ['dash', '-c'], keeps: false },
  { words: ['bash', '-c'], keeps: true },
];

/** `dash -c` takes the rest as one word. */
const joined = (chain: typeof links, app: string[]): string[] =>
  chain.reduceRight<string[]>((rest, { words }) => {
    const quoted = rest
      .map((word) => (/^[\w/=.-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
      .join(' ');
    return words.at(-1) === '-c' ? [...words, quoted] : [...words, ...rest];
  }, app);

it('lets a signal through a chain exactly if each link lets it through', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...links), { maxLength: 5 }), (chain) => {
      const found = of({ command: joined(chain, ['acme']), image: 'debian:12' });
      expect(found.reachesApp).toBe(chain.every(({ keeps }) => keeps) ? 'yes' : 'no');
      expect(found.chain.length).toBe(chain.length + 1);
    }),
    { numRuns: 300 },
  );
});

const hostile = [
  ['sh', '-c', 'x '.repeat(10_000)],
  ['sh', '-c', "'".repeat(9_999)],
  ['sh', '-c', '$('.repeat(5_000)],
  ['sh', '-c', `$(${'(a)'.repeat(5_000)}`],
  ['sh', '-c', '('.repeat(5_000)],
  ['sh', '-c', 'if true; then '.repeat(3_000)],
  ['sh', '-c', 'a | '.repeat(5_000)],
  ...['a;', 'a | ', 'a || ', 'a && ', 'a & ', 'trap a TERM;'].map((part) => ['sh', '-c', `${part.repeat(140)} b`]),
  ['sh', '-c', `${'if a; then '.repeat(36)}${'b;'.repeat(200)} ${'fi;'.repeat(36)}`],
  ['sh', '-c', `trap "${'kill $!; '.repeat(140)}" TERM; app & wait`],
  ['sh', '-c', 'f() { f; }; f'],
  ['sh', '-c', `f() { ${'g;'.repeat(90)} }; g() { ${'h;'.repeat(90)} }; h() { app; }; ${'f;'.repeat(20)}`],
  ['sh', '-c', `f() { eval '${'a b;'.repeat(200)}'; }; ${'f;'.repeat(150)}`],
  ['sh', '-c', `${'eval '.repeat(300)} app`],
  ['capsh', '-- '.repeat(6_000)],
  ['python3', '-c', 'os.system '.repeat(2_000)],
  ['sh', '-c', 'cat <<A <<B\n'.repeat(2_000)],
  ['sh', '-c', 'cat <<A\nA\n'.repeat(100)],
  Array.from({ length: 10_000 }, () => 'env'),
  ['env', '-S', 'env -S '.repeat(2_000)],
  ['sh', '-c', '"${a'.repeat(4_000)],
  ['sh', '-c', `"${'$(a)'.repeat(3_900)}`],
  ['sh', '-c', '`'.repeat(9_999)],
  ['sh', '-c', 'echo "a b" && '.repeat(80_000)],
  ['sh', '-c', `cat <<EOF\n${'$(x) "\n'.repeat(2_000)}EOF\napp`],
  ['sh', '-c', 'f() { g; }; g() { f; }; f; '.repeat(40)],
  ['bash', '-c', 'case $1 in '.repeat(1_000)],
  ['bash', '-c', '[[ a && '.repeat(1_500)],
  ['bash', '-c', `${"bash -c '".repeat(500)}app`],
  ['env', ...Array.from({ length: 10_000 }, (_, index) => `A${index}=1`), 'app'],
  ['gunicorn', ...Array.from({ length: 10_000 }, () => '-w')],
  ['app', 'x'.repeat(1_000_000)],
  ['uwsgi', '-M '.repeat(100_000)],
  ['caddy', ' -'.repeat(100_000)],
  ['python', `${'1'.repeat(100_000)}x`],
  ['bash', '-c', `x=${'('.repeat(6_000)}`],
  ['sh', '-c', `cat <<E\n${'\t'.repeat(15_000)}\nE`],
  ['x'.repeat(1_000_000)],
];

/** Takes 2.5 to 5 ms on an idle machine, and longer on a busy one, as everything does. */
const reference = (): unknown => Array.from({ length: 5_000 }, (_, index) => String((index * 7919) % 5_003)).sort();

/** CPU time in ms: other processes do not count. */
const timeOf = (work: () => unknown): number => {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
};
const median = (times: number[]): number => times.sort((one, other) => one - other)[times.length >> 1] ?? 0;

it('answers any command line within the time of two sorts, some 5 ms, at the median of ten runs', () => {
  // A program that has run for a while is faster.
  for (const command of hostile) for (let run = 0; run < 30; run += 1) of({ command });
  for (const command of hostile) {
    const pairs = Array.from({ length: 10 }, () => [timeOf(() => of({ command })), timeOf(reference)] as const);
    expect(median(pairs.map(([own, other]) => own / other)), command.slice(0, 3).join(' ').slice(0, 60)).toBeLessThan(
      2,
    );
  }
});

it('never throws, whatever the command line', () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom('sh', '-c', 'trap "" TERM;', 'exec', '$(', '<<E', 'env', 'su', 'function', 'if', ';', '\n', '|'),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), (command) => {
      of({ command });
      of({ command: ['sh', '-c', command.join(' ')] });
    }),
    { numRuns: 1_000 },
  );
});

it('says what a trap does only where it stands after the job that it names', () => {
  const image = 'debian:12';
  const late = 'app & PID=$!; trap "kill $PID; wait $PID" TERM INT; wait $PID';
  const early = 'trap "kill $!; wait $!" TERM INT; app & wait $!';
  expect(of({ command: ['sh', '-c', late], image }).reachesApp).toBe('yes');
  expect(of({ command: ['sh', '-c', early], image }).reachesApp).toBe('unknown');
});
