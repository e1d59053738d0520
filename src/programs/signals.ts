/** Signals that stop a container: their numbers on Linux (signal(7)), and the STOPSIGNAL of well-known images. Pure. */

/** In the order of their numbers, from 1. */
const signalNames = (
  'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG ' +
  'XCPU XFSZ VTALRM PROF WINCH IO PWR SYS'
).split(' ');

const aliases = { SIGIOT: 6, SIGCLD: 17, SIGPOLL: 29, SIGUNUSED: 31 };

const numbers = new Map([
  ...signalNames.map((name, index) => [`SIG${name}`, index + 1] as const),
  ...Object.entries(aliases),
]);

const realTime = { first: 34, last: 64 };

/** The number of a signal that the API names: `SIGTERM`, `SIGRTMIN+3`. */
export function numberOfSignal(name: string | undefined): number | undefined {
  const [, end, offset = '0'] = /^SIGRT(MIN|MAX)([+-]\d{1,2})?$/.exec(name ?? '') ?? [];
  if (end === undefined) return numbers.get(name ?? '');
  const number = (end === 'MIN' ? realTime.first : realTime.last) + Number(offset);
  return number >= realTime.first && number <= realTime.last ? number : undefined;
}

/** The name of the signal that ends a process with this exit code: `SIGTERM` for 143. Undefined if there is none. */
export function signalOfExitCode(code: number): string | undefined {
  const name = signalNames[code - 129];
  return name === undefined ? undefined : `SIG${name}`;
}

/** The last part of an image's name, without its digest: `nginx` and `1.27` of `docker.io/library/nginx:1.27@sha256:…`. */
function lastPartOf(image: string): { name: string; tag: string } {
  const [name = '', tag = ''] = (image.split('@', 1)[0]?.split('/').at(-1) ?? '').split(':');
  return { name: name.toLowerCase(), tag };
}

/** The last part of a repository, without tag and digest. */
export const imageName = (image: string): string => lastPartOf(image).name;

/** From their Dockerfiles, where it is not SIGTERM; `tag`: only of these variants. */
const stopSignalsOfImages: readonly { image: string; tag?: RegExp; signal: string }[] = [
  { image: 'nginx', signal: 'SIGQUIT' },
  { image: 'httpd', signal: 'SIGWINCH' },
  { image: 'postgres', signal: 'SIGINT' },
  { image: 'haproxy', signal: 'SIGUSR1' },
  { image: 'php', tag: /\bfpm\b/, signal: 'SIGQUIT' },
  { image: 'php', tag: /\bapache\b/, signal: 'SIGWINCH' },
];

/**
 * The STOPSIGNAL of a well-known image, by its name; undefined for SIGTERM and for all other images, as the API does not
 * show it (SIGNALS.md §2 S8).
 */
export function stopSignalOfImage(image = ''): string | undefined {
  const { name, tag } = lastPartOf(image);
  return stopSignalsOfImages.find((one) => one.image === name && (one.tag?.test(tag) ?? true))?.signal;
}
