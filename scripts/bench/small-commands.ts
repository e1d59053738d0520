/** Commands that people and shells often wait for: version, help, completion; compared with starting Node. */
import { contest, type Contest } from './contest.ts';
import { podexit, timed } from './program.ts';

const commands: string[][] = [['--version'], ['--help'], ['completion', 'bash']];

export async function smallCommands(rounds: number): Promise<Contest[]> {
  const contests: Contest[] = [];
  for (const words of commands)
    contests.push(
      await contest({
        name: words.join(' '),
        unit: 'ms',
        rounds,
        promised: 1.3,
        ours: () => timed([...podexit, ...words]),
        reference: { name: 'node -e 0', measure: () => timed([process.execPath, '-e', '0']) },
      }),
    );
  return contests;
}
