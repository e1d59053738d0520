/** What a container's command line shows about its stop signal (programs/stop-behaviour.ts), as the rules ask for it. */
import { trapOf, type CommandLine } from '../model/observe/container.ts';
import traps from '../programs/data/traps.json' with { type: 'json' };
import { lineOfShell } from '../programs/shell-script.ts';
import { stopBehaviour } from '../programs/stop-behaviour.ts';

export type SignalHandling =
  /** It has a handler, which may take any time unless `endsAtOnce`; `how` is a clause. */
  | { kind: 'handles'; how: string; endsAtOnce?: boolean }
  /** `ignores`: no effect. `shell`: not passed on to the child. `cuts`: ends at once, with the application. `depends`: not visible. */
  | { kind: 'ignores' | 'shell' | 'cuts' | 'depends'; because: string; advice?: string }
  /** The program decides, and a spec does not show how. */
  | { kind: 'unknown'; program?: string };

/** `graceSeconds`: of the pod. A trap that runs only after a longer sleep is none. */
export function signalHandlingOf(line: CommandLine, signal = 'TERM', graceSeconds = 30): SignalHandling {
  const { command, args } = line;
  const words = [...command, ...args];
  const typed = words.join(' ').replaceAll('\n', ' ');
  const script = lineOfShell(words);
  if (script !== undefined && trapOf(script, signal) === 'ignored')
    return { kind: 'ignores', because: `its command has \`trap "" ${signal}\``, advice: `${traps.ignores.advice}.` };
  const found = stopBehaviour(line, signal, graceSeconds);
  const because = found.probably ? `probably ${found.because}` : found.because;
  const { handles, reachesApp, drains, decidedBy = because, chain, remedy } = found;
  const quoted = `\`${typed.length > 60 ? `${typed.slice(0, 59)}…` : typed}\`: ${because}`;
  // A limit of the application is a finding of its own.
  const advice = remedy && !/^(setting|longer-grace)$/.test(remedy.kind) ? `${remedy.text}.` : undefined;
  if (handles === 'no') return { kind: reachesApp === 'no' ? 'shell' : 'ignores', because: quoted, advice };
  // As a trap that signals the application, and does not wait for it.
  const isLeft = drains === 'no' && chain.some(({ does }) => does === 'leaves');
  if (handles === 'yes' && (reachesApp === 'no' || isLeft)) return { kind: 'cuts', because: quoted, advice };
  const isTrap = chain[0]?.kind === 'shell-with-trap';
  if (isTrap) return { kind: 'handles', how: handles === 'unknown' ? decidedBy : `it has a trap for SIG${signal}` };
  const last = chain.at(-1);
  const isKnown = drains !== 'unknown' || (last?.kind === 'program' && last.does !== 'unknown' && reachesApp === 'yes');
  if (handles === 'yes' && isKnown) return { kind: 'handles', how: because, endsAtOnce: drains === 'no' };
  const isUpToShell = reachesApp === 'unknown' && chain[0]?.kind === 'shell';
  const isOpen = reachesApp === 'unknown' || chain.length > 1 || last?.kind === 'runtime';
  if (isOpen && (command.length > 0 || script !== undefined))
    return { kind: 'depends', because: decidedBy, advice: isUpToShell ? advice : undefined };
  return { kind: 'unknown', program: command.length > 0 ? last?.name : undefined };
}
