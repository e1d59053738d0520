/** The arguments of a shell: options, a line or a file, and what the script gets. */
import { plainWord, type Word } from './shell-words.ts';

/** By POSIX, options may be in one word or several, before and after `c` (sh, "OPTIONS"). */
export function shellArguments(words: readonly Word[]) {
  let [hasLine, isInteractive, fromInput, stopsOnError, at] = [false, false, false, false, 0];
  for (; at < words.length; at += 1) {
    const option = words[at]?.text ?? '';
    if (option === '--' || option === '-') {
      at += 1;
      break;
    }
    if (!/^[-+]./.test(option)) break;
    if (option.startsWith('--')) {
      if (/^--(rcfile|init-file)$/.test(option)) at += 1;
      continue;
    }
    hasLine ||= /^-\w*c/.test(option);
    isInteractive ||= /^-\w*i/.test(option);
    fromInput ||= /^-\w*s/.test(option);
    stopsOnError ||= /^-\w*e/.test(option);
    at += option.match(/[oO]/g)?.length ?? 0;
  }
  const operands = words.slice(at);
  const options = { isInteractive, stopsOnError };
  if (hasLine) return { ...options, line: operands[0], file: undefined, args: operands.slice(2) };
  return { ...options, line: undefined, file: fromInput ? undefined : operands[0], args: operands.slice(1) };
}

/** LINE of a shell that a command line starts with `-c LINE`, also by way of `env` and `busybox`. */
export function lineOfShell(words: readonly string[]): string | undefined {
  const [path = '', ...others] = words;
  const name = path.split('/').at(-1) ?? '';
  if (name === 'busybox' || name === 'toybox') return lineOfShell(others);
  if (name === 'env') {
    const next = others.findIndex((word) => !/^-|^\w+=/.test(word));
    return next === -1 ? undefined : lineOfShell(others.slice(next));
  }
  return /^(ba|da|a|hu|z|k|mk|ya|po)?sh$/.test(name) ? shellArguments(others.map(plainWord)).line?.text : undefined;
}
