/**
 * What the main process of a container does with its stop signal. Pure. The answer follows PID 1's command line from link
 * to link: shell, wrapper, process manager, runtime, program.
 */
import type { ProgramContainer, StopBehaviour } from './behaviour.ts';
import { effectOf, maxWords } from './chain.ts';
import { baseOf, commandOfImage, imageName } from './images.ts';
import { scriptUnknown, unknownApp, type Context } from './links.ts';
import { rowOf } from './rows.ts';
import { plainWord } from './shell-words.ts';

/**
 * `signal` with or without SIG; `graceSeconds`: how long after the signal SIGKILL comes. An unknown part makes everything
 * behind it unknown, and `decidedBy` names it.
 */
export function stopBehaviour(container: ProgramContainer, signal: string, graceSeconds: number): StopBehaviour {
  const { command = [], args = [], image = '', env = {}, scripts = new Map() } = container;
  const context: Context = {
    signal: signal.replace(/^SIG/, ''),
    graceSeconds,
    isPid1: container.shareProcessNamespace !== true,
    isIgnored: false,
    toGroup: false,
    base: baseOf(image),
    env: new Map(Object.entries(env).map(([name, value]) => [name, plainWord(value)])),
    scripts,
    depth: 0,
  };
  if (container.os === 'windows') return unknownApp('the application', context);
  const words = wordsOf(command, args, image);
  return words ? effectOf(words.slice(0, maxWords).map(plainWord), context) : ofEntryPoint(args, context);
}

/** Kubernetes' rule: `command` replaces ENTRYPOINT and CMD, `args` replaces CMD. Undefined: the image decides. */
function wordsOf(command: readonly string[], args: readonly string[], image: string): readonly string[] | undefined {
  if (command.length > 0) return [...command, ...args];
  const { entry, cmd } = commandOfImage(image);
  if (entry !== undefined && (args.length > 0 || cmd !== undefined))
    return [...entry, ...(args.length > 0 ? args : (cmd ?? []))];
  const row = args.length > 0 ? undefined : rowOf([imageName(image)]);
  return row && !row.next && row.kind !== 'runtime' ? [imageName(image)] : undefined;
}

function ofEntryPoint(args: readonly string[], context: Context): StopBehaviour {
  const name = "the image's ENTRYPOINT";
  const effect = scriptUnknown(name, context);
  const because = `${name} is not visible here${args.length > 0 ? ', and it comes before the arguments' : ''}`;
  return {
    ...effect,
    because,
    remedy: undefined,
    decidedBy: `${name}: an init or a program that handles SIG${context.signal} can stop in time, a shell that stays PID 1 cannot`,
  };
}

/**
 * How a container ended by its stop signal, by its exit code and the name of its program. `isNormal`: certainly as this
 * program does when it stops; else something in front of the application probably ended and cut it off.
 */
export function knownEnd(
  { program = '', image }: { program?: string; image?: string },
  signal: string | undefined,
  code: number,
): { isNormal: boolean; because: string } | undefined {
  // Its arguments are not known; a manager of scripts needs one.
  const [command, name] = [[program, 'start'], signal ?? 'SIGTERM'];
  const { reachesApp, handles, exitCodes, probably, because, chain } = stopBehaviour({ command, image }, name, 30);
  const { variants = [] } = rowOf(command) ?? {};
  const codes = variants.flatMap(({ signals }) => signals?.[name.replace(/^SIG/, '')]?.code ?? []);
  if (program === '' || handles !== 'yes' || codes.some((one) => one !== code)) return undefined;
  if (reachesApp === 'no' && exitCodes.cut.includes(code)) return { isNormal: false, because };
  const isNormal =
    !probably && reachesApp === 'yes' && chain.at(-1)?.kind === 'program' && exitCodes.good.includes(code);
  return isNormal ? { isNormal, because } : undefined;
}
