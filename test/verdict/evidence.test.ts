import { describe, expect, it } from 'vitest';
import { penFor, plainStyle } from '../../src/render/palette.ts';
import { verdictLines } from '../../src/render/verdict-text.ts';
import { judged, recorded } from '../helpers/cases.ts';
import { recordingNames } from '../helpers/recordings.ts';

describe('what proves a mark or a finding', () => {
  it.each(recordingNames)('names the container that ended, however many one status tells of: %s', async (name) => {
    const { marks, observations } = judged(await recorded(name));
    const exits = marks.filter((mark) => mark.name === 'exited' && mark.note?.startsWith('code '));
    for (const { subject, at } of exits) {
      const cited = observations.filter(({ seq }) => at.evidence.includes(seq)).map(({ what }) => what);
      expect(cited.join('\n')).toContain(`${subject} terminated`);
    }
  });

  it('is told with the container that the finding is about', async () => {
    const report = judged(await recorded('multi-container'));
    const text = verdictLines(penFor(plainStyle), report, { zero: 0, width: Infinity }).join('\n');
    expect(text).toMatch(/killed-at-grace: legacy .*\n.*legacy terminated, code 137 \(Error\)/);
    expect(text).not.toContain('; also');
  });
});
