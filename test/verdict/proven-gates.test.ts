/** Gates that passed, or could have, where nothing proved that the limit was kept. */
import { describe, expect, it } from 'vitest';
import { drains } from '../../src/loopback/kubelet/plain-story.ts';
import type { Sighting } from '../../src/trace/observation.ts';
import { endedLikeLive } from '../../src/session/replay.ts';
import type { GateSpec } from '../../src/verdict/gates.ts';
import { gateRule } from '../../src/verdict/gates.ts';
import { reportOf } from '../../src/verdict/report.ts';
import { alone, attached, changesOf, listed, markedIn, told } from '../helpers/cases.ts';
import { observationsOf, traceOf } from '../helpers/recordings.ts';
import { asked, kubelet, pod } from '../helpers/story-changes.ts';

function gateOf(sightings: readonly Sighting[], spec: GateSpec) {
  const trace = traceOf(observationsOf([...endedLikeLive(sightings)]));
  const [gate] = reportOf(trace, { gates: [gateRule(spec)], warnOnly: false })?.verdict.gates ?? [];
  if (!gate) throw new Error('no gate was judged');
  return gate;
}

describe('max-grace-used', () => {
  const half: GateSpec = { kind: 'max-grace-used', share: 0.5 };

  it.each([1500, 8000])('counts a grace that was lowered before the kubelet began after %i ms', (noticeMs) => {
    const sightings = told({
      ...alone({ app: drains(1500) }),
      ...pod({ graceSeconds: 30 }),
      ...asked(null),
      later: [{ kind: 'delete', atMs: 400, graceSeconds: 1 }],
      ...kubelet({ noticeMs: [noticeMs, noticeMs] }),
    });
    expect(gateOf(sightings, half)).toMatchObject({ passed: false });
  });

  it('counts the grace that was asked for, where nobody saw that it was not lowered', () => {
    const all = attached(
      told({
        ...alone({ app: drains(4300) }),
        ...pod({ graceSeconds: 30 }),
        trigger: { kind: 'unknown', atMs: 1240, graceSeconds: 5 },
      }),
    );
    const { at, object } = markedIn(all);
    const events = changesOf(all, 'events').filter((one) => one.at < at + 400);
    const late = [
      ...all.filter((one) => one.kind === 'began').map((one) => ({ ...one, at: at + 400 })),
      listed(at + 405, 'pod', object),
      listed(at + 406, 'events', ...events.map((one) => one.object)),
      ...all.filter((one) => one.at > at + 406),
    ];
    expect(gateOf(late, half)).toMatchObject({ passed: false });
  });
});
