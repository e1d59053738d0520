/** The reports of the samples and of each recording, to test the schema and the serializers. */
import type { ExitReport } from '../../../src/model/report.ts';
import { recordingNames, reportOfRecording } from '../../helpers/recordings.ts';
import { samples } from './samples.ts';

const recorded = await Promise.all(
  recordingNames.map(async (name) => {
    const report = await reportOfRecording(name);
    return [`recording ${name}`, () => structuredClone(report)] as const;
  }),
);

export const reports: readonly (readonly [string, () => ExitReport])[] = [...samples, ...recorded];
