/** `--probe` and related flags: requests sent while the pod shuts down, and how many of them may be lost. */
import { readFileSync } from 'node:fs';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { ProbeSettings } from '../probe/target.ts';
import type { Ports } from '../run/ports.ts';
import type { Flags } from './flags.ts';
import { badValue, flagOf, parseDuration, usageError } from './usage.ts';

/** Throws PodexitError `usage.probe` for invalid flags. `env` may contain PODEXIT_PROBE_HEADERS. */
export async function probesFrom(flags: Flags, env: Ports['env']): Promise<ProbeSettings[]> {
  const { probe: targets = [] } = flags;
  if (targets.length === 0) return refuseAlone(flags);
  const { parseProbeTarget, viaOf } = await import('../probe/target.ts');
  // Hides the command line, which every user of this machine can read (ps). The environment and files are private.
  if (flags.probeHeader?.some((word) => !word.startsWith('@'))) process.title = 'kubectl-podexit';
  const rate = flags.probeRate === undefined ? undefined : rateOf(flags.probeRate);
  const shared = {
    timeoutMs: timeoutOf(flags.probeTimeout ?? '1s'),
    method: methodOf(flags.probeMethod ?? 'GET'),
    headers: headersOf([...(env['PODEXIT_PROBE_HEADERS']?.split('\n') ?? []), ...(flags.probeHeader ?? [])]),
    expect: statusesOf(flags.probeExpect ?? '200-399'),
    keepalive: flags.probeKeepalive !== false,
    ca: flags.probeCa === undefined ? undefined : readText(flags.probeCa, '--probe-ca'),
    insecure: flags.probeInsecure ?? false,
  };
  return targets.map((text) => {
    const target = parseProbeTarget(text);
    return { ...shared, target, ratePerSecond: rate ?? (viaOf(target) === 'url' ? 20 : 5) };
  });
}

function refuseAlone(flags: Flags): [] {
  const given = Object.entries(flags).find(([name, value]) => /^(probe.|maxLost)/.test(name) && value !== undefined);
  if (given === undefined) return [];
  throw wrong(`${flagOf(given[0])} needs --probe`, 'Say what is to be asked: --probe URL');
}

function rateOf(text: string): number {
  const rate = /^\d{1,3}(?:\.\d{1,3})?$/.test(text) ? Number(text) : NaN;
  if (rate >= 0.1 && rate <= 500) return rate;
  throw badValue('probe', '--probe-rate', text, 'is not a number from 0.1 to 500', 'It counts requests a second.');
}

function timeoutOf(text: string): number {
  const ms = parseDuration(text, '--probe-timeout');
  if (ms >= 1 && ms <= 60_000) return ms;
  throw wrong(`--probe-timeout: ${text.slice(0, 80)} is not between 1ms and 60s`, 'Write it as Go does: 500ms, 2s.');
}

function methodOf(text: string): string {
  const method = text.toUpperCase();
  if (/^[A-Z]{1,20}$/.test(method) && method !== 'CONNECT') return method;
  throw badValue('probe', '--probe-method', text, 'is not an HTTP method', 'Write it like GET or POST.');
}

function statusesOf(text: string): ProbeSettings['expect'] {
  return text.split(',').map((part) => {
    const [, from, to = from] = /^\s*([1-5]\d\d)(?:-([1-5]\d\d))?\s*$/.exec(part) ?? [];
    if (from !== undefined && Number(from) <= Number(to)) return { from: Number(from), to: Number(to) };
    throw badValue('probe', '--probe-expect', part, 'is not a status', 'Write it like 200-399 or 200,204.');
  });
}

/** A later header replaces an earlier one of the same name. Errors name a header, never its value. */
function headersOf(words: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  const lines = words.flatMap((word) =>
    word.startsWith('@') ? readText(word.slice(1), '--probe-header').split('\n') : [word],
  );
  for (const line of lines.map((text) => text.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const [, name = '', value = ''] = /^([^:]*):\s*(.*)$/s.exec(line) ?? [];
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      const named = /^[\w-]{1,40}$/.test(name) ? ` ${name}` : '';
      throw wrong(
        `--probe-header: a header${named} is not written as \`Name: value\``,
        'Write it like Authorization: …',
      );
    }
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

function readText(file: string, flag: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    throw wrong(`${flag}: the file ${file.slice(0, 200)} cannot be read (${code})`, 'Check its name and permissions.');
  }
}

const wrong = (message: string, hint: string): Error => usageError('probe', message, hint);
