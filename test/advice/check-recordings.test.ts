/** `check` on the cluster of every recording before the exit. It never passes a pod that is killed later. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CheckedObject, CheckReport } from '../../src/advice/check-report.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { allNames, truthsOf } from '../helpers/recordings.ts';
import { serving } from '../helpers/serving.ts';

const checked = (name: string): Promise<{ one: CheckedObject | undefined; text: string }> =>
  serving(name, {}, async ({ server, flags, folder }) => {
    const file = join(folder, 'check.json');
    const { code, stdout: text, stderr } = await runMain(['check', server.pod, '--report', file, ...flags]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(server.requests.map(({ method }) => method)).not.toContain('DELETE');
    return { one: (JSON.parse(readFileSync(file, 'utf8')) as CheckReport).checks[0], text };
  });

const killedContainers = (name: string): string[] =>
  truthsOf(name)
    .filter(({ sigkill_sent }) => sigkill_sent !== undefined)
    .map(({ container }) => container);

describe.each(allNames)('%s', (name) => {
  it('promises no graceful exit, and names each container that is killed later', async () => {
    const { one, text } = await checked(name);
    expect(text.replaceAll(name, '')).not.toMatch(/graceful|✔/i);
    for (const container of new Set(killedContainers(name))) {
      const named = [...(one?.findings ?? []), ...(one?.cannotTell ?? [])].filter(
        (entry) => entry.container === container,
      );
      expect(named.map(({ container: of }) => of)).toContain(container);
    }
    expect(
      one?.judgement === 'no-problem-found' && one.cannotTell.length === 0 && killedContainers(name).length > 0,
    ).toBe(false);
  });
});
