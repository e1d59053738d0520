import { describe, expect, it } from 'vitest';
import { judged, recorded } from '../helpers/cases.ts';
import { recordingNames } from '../helpers/recordings.ts';

describe('the evidence of a mark', () => {
  it.each(recordingNames)('names the exited container, even if one status reports several: %s', async (name) => {
    const { marks, observations } = judged(await recorded(name));
    const exits = marks.filter((mark) => mark.name === 'exited' && mark.note?.startsWith('code '));
    for (const { subject, at } of exits) {
      const cited = observations.filter(({ seq }) => at.evidence.includes(seq)).map(({ what }) => what);
      expect(cited.join('\n')).toContain(`${subject} terminated`);
    }
  });
});
