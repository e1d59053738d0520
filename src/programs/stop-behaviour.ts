/** What the main process of a container does with its stop signal, by the links of its command line. Pure. */
import type { ProgramContainer, StopBehaviour } from './behaviour.ts';
import { effectOf } from './chain.ts';
import { rowOfImage, shellsOf } from './images.ts';
import { scriptUnknown } from './links.ts';
import { rowOf } from './rows.ts';
import { plainWord } from './shell-words.ts';

/** `signal` with or without SIG; `graceSeconds`: from it to SIGKILL. Behind an unknown part, which `decidedBy` names, all is unknown. */
export function stopBehaviour(container: ProgramContainer, signal: string, graceSeconds: number): StopBehaviour {
  const { command = [], args = [], image: whole = '', scripts, sharesProcesses, env = [] } = container;
  const image = whole.slice(0, 1000);
  const name = signal.replace(/^SIG/, '').toUpperCase();
  const itself = { isPid1: !sharesProcesses, isIgnored: false, toGroup: false, depth: 0, graceSeconds, scripts };
  const context = { ...itself, signal: name, sh: shellsOf(image), around: [image, ...env].join('\n').slice(0, 20_000) };
  // Of each word more than a script that can be understood has.
  const words = wordsOf(command, args, image)?.map((word) => plainWord(word.slice(0, 20_000)));
  if (words) return effectOf(words, context);
  const entry = "the image's ENTRYPOINT";
  return {
    ...scriptUnknown(entry, context),
    because: `${entry} is not visible here${args.length > 0 ? ', and it comes before the arguments' : ''}`,
    remedy: undefined,
    decidedBy: `${entry}: an init or a program that handles SIG${name} can stop in time, a shell that stays PID 1 cannot`,
  };
}

/** Kubernetes' rule: `command` replaces ENTRYPOINT and CMD, `args` replaces CMD. Undefined: the image decides. */
function wordsOf(command: readonly string[], args: readonly string[], image: string): readonly string[] | undefined {
  if (command.length > 0) return [...command, ...args];
  const { entry, cmd = [] }: { entry?: readonly string[]; cmd?: readonly string[] } = rowOfImage(image) ?? {};
  if (!entry) return undefined;
  // Before options, the entry points of official images put the name of their program, which is the first word of CMD.
  const isOption = /^[^-]/.test(cmd[0] ?? '') && args[0]?.startsWith('-');
  const before = isOption ? cmd.slice(0, Math.max(1, cmd.indexOf(args[0] ?? ''))) : [];
  return [...entry, ...before, ...(args.length > 0 ? args : cmd)];
}

/**
 * How a container ended by its stop signal. `isNormal`: certainly as this program does when it stops; false: something in front
 * of it probably cut it off; absent: it ran until SIGKILL, as it ignores the signal, and `advice` says what would help.
 */
export function knownEnd({ program = '', image }: { program?: string; image?: string }, signal = 'SIGTERM', code = 0) {
  // Its arguments are not known; a manager of scripts needs one.
  const command = [program, 'start'];
  const { reachesApp, handles, exitCodes, because, ...found } = stopBehaviour({ command, image }, signal, 30);
  const codes = rowOf(command)?.variants?.flatMap(({ signals }) => signals?.[signal.replace(/^SIG/, '')]?.code ?? []);
  if (handles === 'no' && reachesApp === 'yes' && code === 137) return { because, advice: found.remedy?.text };
  if (program === '' || handles !== 'yes' || codes?.some((one) => one !== code)) return undefined;
  if (reachesApp === 'no') return exitCodes.cut.includes(code) ? { isNormal: false, because } : undefined;
  const isKnown = !found.probably && reachesApp === 'yes' && found.chain.at(-1)?.kind === 'program';
  return isKnown && exitCodes.good.includes(code) ? { isNormal: true, because } : undefined;
}
