/** A command with only those of its flags that a command line may set: all 75 together slow each start. */
import { Command, type Option } from 'commander';

export class CommandWithNeededFlags extends Command {
  readonly #words: readonly string[] | undefined;

  /** `words`: of the command line; undefined: the command gets all its flags. */
  constructor(name: string, words: readonly string[] | undefined) {
    super(name);
    this.#words = words;
  }

  override createCommand(name = ''): Command {
    return new CommandWithNeededFlags(name, this.#words);
  }

  override addOption(option: Option): this {
    return this.#words?.some((word) => maySet(word, option)) === false ? this : super.addOption(option);
  }
}

/** `--flag`, `--no-flag`, `--flag=VALUE`, or any switches and short flags that share a dash: `-yn shop`. */
function maySet(word: string, { long, short }: Option): boolean {
  if (!word.startsWith('--')) return short !== undefined && word.startsWith('-') && word.includes(short.slice(1));
  return nameOf(word) === nameOf(long ?? '');
}

const nameOf = (flag: string): string => flag.replace(/^--(?:no-)?/, '').replace(/=[^]*$/, '');
