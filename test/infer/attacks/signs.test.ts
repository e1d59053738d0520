/** What somebody did who wanted a false word about a kubelet, a slice or a stop signal. */
import { expect, it } from 'vitest';
import { adding, attached, changed, editing, judged, markedIn, told } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';

it('an endpoint that moved to another slice before the deletion did not leave the first one because of it', () => {
  const base = attached(told({ trigger: { kind: 'unknown', atMs: 11240, graceSeconds: null } }));
  const { at } = markedIn(base);
  const [slice] = base.flatMap((one) =>
    one.kind === 'listed' && one.stream === 'endpointslices' ? (one.objects as Raw[]) : [],
  );
  if (!slice) throw new Error('no slice was listed');
  const named = (one: Raw, version: bigint): Raw => ({
    ...one,
    metadata: { ...one.metadata, name: 'second', uid: 'second', resourceVersion: String(version) },
  });
  const emptied = { ...slice, endpoints: [], metadata: { ...slice.metadata, resourceVersion: '900001' } };
  const moved = editing(base, 'endpointslices', (one, sighting) =>
    sighting.kind === 'changed' ? named(one, 900010n + BigInt(sighting.at - at + 9000)) : one,
  );
  const report = judged(
    adding(
      moved,
      changed(at - 8000, 'endpointslices', named(slice, 900000n), 'ADDED'),
      changed(at - 7999, 'endpointslices', emptied),
    ),
  );
  expect(report.endpoints.map((endpoint) => endpoint.slice)).toEqual(['second']);
  expect(report.phases.filter(({ name }) => name === 'route-removal').map(({ subject }) => subject)).toEqual([
    'second',
  ]);
});
