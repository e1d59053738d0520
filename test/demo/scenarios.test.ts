import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseScenario } from '../../src/demo/scenario.ts';
import { listScenarios, loadScenario } from '../../src/demo/scenarios.ts';
import { open, send } from './helpers/client.ts';
import { loadRecording } from './helpers/load.ts';
import { playing } from './helpers/playing.ts';

const directory = fileURLToPath(new URL('../../src/demo/scenarios', import.meta.url));
const shipped = await listScenarios(directory);

describe('the shipped scenarios', () => {
  it('are at least eight, each with a sentence about it', () => {
    expect(shipped.length).toBeGreaterThanOrEqual(8);
    for (const { about } of shipped) expect(about).toMatch(/\w.*\.$/);
  });

  it('are named in the refusal of one that is not there', async () => {
    await expect(loadScenario(directory, 'nope')).rejects.toThrow(
      /no scenario "nope"; there are exit-143, finalizer, /,
    );
    await expect(loadScenario(directory, '../scenarios/exit-143')).rejects.toThrow(/no scenario/);
  });

  it.each(shipped.map(({ name }) => name))('%s tells of the traced pod what its recording tells', async (name) => {
    const scenario = await loadScenario(directory, name);
    const seen = await Promise.all([scenario, loadRecording(name)].map((one) => watched(name, one)));
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]!.some((line) => line.startsWith('DELETED'))).toBe(true);
  });
});

describe('a file that is no scenario', () => {
  it('is refused with the line that is wrong', () => {
    expect(() => parseScenario('{"type":"about","scenario":"a","about":"b"}\n{"typ')).toThrow(/line 2 is not a row/);
    expect(() => parseScenario('{"type":"ready","at":"2026-01-01T00:00:00.000Z"}')).toThrow(/no "about" row/);
  });
});

/** What a watcher of the traced pod sees, without what trimming may take away. */
async function watched(name: string, scenario: ReturnType<typeof loadRecording>): Promise<string[]> {
  const { pods, pod, server, clock } = await playing(name, { scenario });
  const stream = await open(`${pods}?watch=1&fieldSelector=metadata.name%3D${server.pod}`);
  const isAttach = name === 'rolling-update';
  const sent = isAttach ? undefined : send(pod, { method: 'DELETE' });
  await clock.advance(90_000);
  await server.played;
  await sent;
  return stream.frames().map(({ type, object }) => {
    const { deletionTimestamp, deletionGracePeriodSeconds, finalizers, uid } = object.metadata;
    const told = { uid, deletionTimestamp, deletionGracePeriodSeconds, finalizers, status: object.status };
    return `${type} ${JSON.stringify(told, (field, value: unknown) => (field === 'volumeMounts' ? undefined : value))}`;
  });
}
