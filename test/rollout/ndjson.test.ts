/** `-o ndjson` of a run over several pods: each line fits the schema and names its pod; the summary comes last. */
import { expect, it } from 'vitest';
import { servingPatiently } from '../helpers/serving-patiently.ts';
import { faultsBy } from '../helpers/schemas.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { ends, deployment, pod, rolledOut, scriptedRollout, wait } from './helpers/scripted-rollout.ts';

interface Line {
  type: string;
  pod?: { name: string };
  report?: { pod: { name: string } };
  sentence?: string;
}

it('prints the marks of each pod before it is gone, a report line for each, and the summary', () =>
  servingPatiently('exit-143', {}, async (cluster) => {
    const { flags, clock, asked } = cluster;
    const script = scriptedRollout(cluster);
    await script.play([deployment({ spec: { replicas: 1 } }), rolledOut(1, 1), pod('web-a-1', 'ready')]);
    const written: { text: string; at: number }[] = [];
    const words = ['rollout', 'deploy/web', '-o', 'ndjson', ...flags];
    const running = runMain(words, { onStdout: (text) => written.push({ text, at: clock.now() }) });
    await asked('watch', 'pods');
    await script.play([deployment({ generation: 2, status: { observedGeneration: 2, updatedReplicas: 0 } })]);
    await script.play([pod('web-b-1', 'ready'), ...ends('web-a-1'), rolledOut(2, 1), wait(0)]);
    const gone = clock.now();
    const { stdout, code } = await running;
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
    expect(lines.flatMap((line) => faultsBy('ndjson', line))).toEqual([]);
    expect(code).toBe(0);
    const marks = lines.filter(({ type }) => type === 'mark');
    expect(new Set(marks.map((line) => line.pod?.name))).toEqual(new Set(['web-a-1']));
    const first = written.find(({ text }) => text.includes('"type":"mark"'));
    expect(first?.at).toBeLessThan(gone - 600);
    expect(lines.at(-2)?.report?.pod.name).toBe('web-a-1');
    expect(lines.at(-1)).toMatchObject({ type: 'summary', kind: 'RolloutSummary', pods: 1, exitCode: 0 });
    expect(lines.at(-1)?.sentence).toMatch(/^1 of 1 pod terminated gracefully/);
  }));
