/**
 * What the main process of a container does with its stop signal. Pure. The answer follows PID 1's command line from link
 * to link: shell, wrapper, process manager, runtime, program.
 */
import type { ProgramContainer, StopBehaviour } from './behaviour.ts';
import { effectOf, maxWords } from './chain.ts';
import { baseOf, commandOfImage } from './images.ts';
import { scriptUnknown, unknownApp, type Context } from './links.ts';
import { rowOf } from './rows.ts';
import { plainWord } from './shell-arguments.ts';
import { imageName } from './signals.ts';

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
  const found = words ? effectOf(words.slice(0, maxWords).map(plainWord), context) : ofEntryPoint(args, context);
  return withOwnLimit(found, [...command, ...args].slice(0, maxWords), env);
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

const isOptionOfLimit = (name: string): boolean =>
  name.length < 100 &&
  /graceful|shutdown|drain|terminat/i.test(name) &&
  /timeout|period|delay|limit|duration|seconds|wait/i.test(name);

/** An option or variable that sets a limit for the stop, by its name: of a program that is not known, it is all there is. */
function withOwnLimit(
  found: StopBehaviour,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): StopBehaviour {
  if (found.limitSeconds !== undefined || found.reachesApp === 'no') return found;
  const pairs = [
    ...words.flatMap((word, index) => [word.split('=', 2), [word, words[index + 1] ?? '']]),
    ...Object.entries(env),
  ];
  for (const [name = '', value = ''] of pairs) {
    const [, count, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(value) ?? [];
    if (count === undefined || !isOptionOfLimit(name)) continue;
    const isMilliseconds = unit === 'ms' || /ms$|millis/i.test(name);
    return {
      ...found,
      limitSeconds: (Number(count) * (unit === 'm' ? 60 : 1)) / (isMilliseconds ? 1000 : 1),
      limitFrom: name,
    };
  }
  return found;
}
