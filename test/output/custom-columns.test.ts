/** `-o custom-columns`: a row for each exit, as kubectl prints objects. */
import { describe, expect, it } from 'vitest';
import { readColumns, renderColumns } from '../../src/output/machine/jsonpath.ts';
import { runMain } from '../cli/helpers/in-process.ts';

import { recordingFile, reportOfRecording } from '../helpers/recordings.ts';
import { unseenIn } from './helpers/unseen.ts';

describe('-o custom-columns', () => {
  it('has a header, and the values of a report in columns', async () => {
    const columns = 'OUTCOME:.verdict.outcome,CONTAINERS:{.containers[*].name},NOTHING:pod.nothing';
    expect(renderColumns([await reportOfRecording('multi-container')], columns)).toBe(
      'OUTCOME   CONTAINERS          NOTHING\nkilled    web,worker,legacy   <none>\n',
    );
  });

  it('has a row for each pod of a rollout', async () => {
    const words = [
      'replay',
      recordingFile('statefulset-rollout'),
      '-o',
      'custom-columns=POD:.pod.name,CODE:verdict.exitCode',
    ];
    const { stdout, code } = await runMain(words);
    expect(stdout.split('\n')).toEqual(['POD    CODE', 'db-2   0', 'db-1   0', 'db-0   0', '']);
    expect(code).toBe(0);
  });

  it('escapes what comes from the cluster', () => {
    expect(unseenIn(renderColumns([{ name: 'a\u001b[31m\u202e' }], 'NAME:.name'))).toEqual([]);
    expect(readColumns('A:.a')).toHaveLength(1);
  });
});
