/** What offsets count from. */
import { expect, it } from 'vitest';
import { zeroOfReport } from '../../src/render/lines.ts';
import { zeroOf } from '../../src/render/offsets.ts';
import { recordingNames, reportOfRecording } from '../helpers/recordings.ts';

it.each(recordingNames)(
  'tables and lines count %s from the same moment: the request, else the acceptance',
  async (name) => {
    const report = await reportOfRecording(name);
    const at = (mark: string) => report.marks.find((one) => one.name === mark)?.at;
    const zero = at('requested')?.earliest ?? at('accepted')?.latest;
    expect(new Date(zeroOf(report)).toISOString()).toBe(zero);
    expect(zeroOfReport(report).at).toBe(zeroOf(report));
  },
);
