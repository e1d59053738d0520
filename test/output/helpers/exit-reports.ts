/** The reports of each recording, of stories that no recording has, and a hostile one, to test the schema and the serializers. */
import { recordingNames, reportOfRecording } from '../../helpers/recordings.ts';
import { attached, storyObservations, judged } from '../../helpers/cases.ts';
import { hostileExit } from './reports.ts';

const standsStill = storyObservations({ faults: [{ kind: 'freeze', atMs: -100, forMs: null }], limitMs: 45_000 });
const timeout = { at: (standsStill.at(-1)?.at ?? 0) + 1, kind: 'timer', name: 'timeout' } as const;

export const reports = [
  ['hostile', hostileExit],
  ['stuck', judged([...standsStill, timeout])],
  ['cut off', judged(attached(storyObservations()).slice(0, 20))],
  ...(await Promise.all(recordingNames.map(async (name) => [name, await reportOfRecording(name)] as const))),
] as const;
