/** The arguments of a shell: options, a line or a file, and what the script gets. */
import { plainWord, type Word } from './shell-words.ts';

/** By POSIX, options may be in one word or several, before and after `c` (sh, "OPTIONS"). */
export function shellArguments(words: readonly Word[]) {
  let [letters, at] = ['', 0];
  for (; /^[-+]./.test(words[at]?.text ?? '') && words[at]?.text !== '--'; at += 1) {
    const option = words[at]?.text ?? '';
    const isLong = option.startsWith('--');
    if (option.startsWith('-') && !isLong) letters += option;
    at += isLong ? Number(/^--(rcfile|init-file)$/.test(option)) : option.replace(/[^oO]/g, '').length;
  }
  if (/^--?$/.test(words[at]?.text ?? '')) at += 1;
  const [first, ...rest] = words.slice(at);
  const isLine = letters.includes('c');
  const file = isLine || letters.includes('s') ? undefined : first;
  return {
    /** As `handsOver` of a shell calls it; `input`: without a script, it reads its commands from its input. */
    forms: [isLine ? [] : file ? 'file' : 'input', letters.includes('i') ? 'interactive' : []].flat(),
    stopsOnError: letters.includes('e'),
    line: isLine ? first : undefined,
    file,
    args: isLine ? rest.slice(1) : rest,
  };
}

/** LINE of a shell that a command line starts with `-c LINE`, also by way of `env` and `busybox`. */
export function lineOfShell(words: readonly string[]): string | undefined {
  const start = words.findIndex((word) => !/^((.*\/)?(busybox|toybox|env)|-.*|\w+=.*)$/s.test(word));
  const isShell = /^(.*\/)?(ba|da|a|hu|z|k|mk|ya|po)?sh$/.test(words[start] ?? '');
  return isShell ? shellArguments(words.slice(start + 1).map(plainWord)).line?.text : undefined;
}
