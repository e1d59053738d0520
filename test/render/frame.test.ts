import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { finalPicture, frame } from '../../src/render/frame.ts';
import { observe } from '../../src/model/observe.ts';
import type { Sighting } from '../../src/model/observation.ts';
import { reduce } from '../../src/model/reduce.ts';
import type { Trace } from '../../src/model/trace.ts';
import { emptyTrace } from '../../src/model/empty-trace.ts';
import { recordingNames, sightingsOf } from '../helpers/recordings.ts';
import { hostileText } from './helpers/hostile.ts';
import { unseenIn } from './helpers/unseen.ts';

const plain = { color: 0, unicode: true } as const;
const ascii = { color: 0, unicode: false } as const;

interface Moment {
  trace: Trace;
  now: number;
}

/** The trace as it was at each of these seconds after the request, or after the first sight of the deletion. */
async function momentsOf(
  name: string,
  seconds: readonly number[],
  alter: (sighting: Sighting) => Sighting = (sighting) => sighting,
): Promise<Moment[]> {
  const sightings = (await sightingsOf(name)).map(alter);
  const traces: Moment[] = [];
  let trace = emptyTrace;
  let zero: number | undefined;
  for (const [index, sighting] of sightings.entries()) {
    trace = reduce(trace, observe(sighting, index + 1, { logText: false }));
    if (zero === undefined && (sighting.kind === 'requested' || trace.deletion)) zero = sighting.at;
    traces.push({ trace, now: sighting.at });
  }
  return seconds.map((second) => {
    const now = (zero ?? 0) + second * 1000;
    return { trace: traces.filter((one) => one.now <= now).at(-1)?.trace ?? emptyTrace, now };
  });
}

const at = async (name: string, second: number, columns = 100, rows = 24): Promise<string> => {
  const [moment] = await momentsOf(name, [second]);
  return frame(moment!.trace, moment!.now, columns, rows, plain).join('\n');
};

describe('the frame', () => {
  it('is empty while nothing is known of the pod', () => {
    expect(frame(emptyTrace, 0, 80, 24, plain)).toEqual([]);
  });

  it('fits every window at every moment of every recording', async () => {
    let frames = 0;
    for (const name of recordingNames)
      for (const { trace, now } of await momentsOf(name, [0.003, 0.3, 2.5, 5, 20, 61]))
        for (const columns of [1, 20, 40, 80, 200])
          for (const rows of [1, 2, 5, 24])
            for (const style of [plain, ascii]) {
              const lines = frame(trace, now, columns, rows, style);
              frames += 1;
              expect(lines.length, name).toBeLessThanOrEqual(Math.max(0, rows - 1));
              for (const line of lines)
                expect(stringWidth(line), `${name}: ${line}`).toBeLessThan(Math.max(2, columns));
            }
    expect(frames).toBe(recordingNames.length * 6 * 5 * 4 * 2);
  });

  it('is nothing but ASCII where Unicode is not wanted', async () => {
    for (const name of recordingNames)
      for (const { trace, now } of await momentsOf(name, [0.3, 2, 5, 40]))
        // eslint-disable-next-line no-control-regex -- the whole of ASCII is meant
        expect(frame(trace, now, 90, 24, ascii).join('\n')).toMatch(/^[\u0000-\u007f]*$/);
  });

  it('has the same lines with and without colour', async () => {
    const escape = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');
    const [moment] = await momentsOf('multi-container', [3]);
    const bare = frame(moment!.trace, moment!.now, 100, 24, plain);
    const colored = frame(moment!.trace, moment!.now, 100, 24, { color: 2, unicode: true });
    expect(colored.join('\n')).not.toBe(bare.join('\n'));
    expect(colored.map((line) => line.replaceAll(escape, ''))).toEqual(bare);
  });

  it('counts down from when the kubelet began, not from the deletionTimestamp', async () => {
    // The kubelet began 2 s after the request with a grace of 30 s: killed after 32 s, whatever the API's deadline says.
    expect(await at('grace-shortened', 1)).toMatch(/waiting for the kubelet, 0 s/);
    expect(await at('grace-shortened', 5)).toMatch(/draining, kill in 25–27 s/);
    expect(await at('multi-container', 1)).toMatch(/kill in 6 s/);
  });

  it.each([
    ['graceful-exit', 0.003, /waiting for the API server's answer to the DELETE/],
    ['prestop-exceeds-grace', 3.2, /app preStop exec running, 3 s, kill in 2 s/],
    ['graceful-exit', 4, /app draining, kill in 7 s|clean-up, 0 s/],
    ['graceful-exit', 2, /app draining, kill in 9 s/],
    ['native-sidecar', 2, /app draining, logs and proxy waiting for their turn, kill in 11 s/],
    ['native-sidecar', 4.5, /logs probably draining, proxy waiting for its turn, kill in 8 s/],
    ['native-sidecar', 4.5, /proxy +·+ +┊ +waiting for its turn/],
    ['native-sidecar', 5.3, /proxy probably draining, kill in 7 s/],
    ['multi-container', 3, /worker +▒+◆▒+ +┊ +probably exited ~\+0\.4/],
    ['multi-container', 3, /legacy draining, kill in 4 s {2}\(grace 6 s\)/],
    ['finalizer', 4, /finalizers: example\.com\/audit/],
    ['node-down', 55, /node node1 NotReady; waiting for the kubelet, 54 s/],
    ['graceful-exit', 60, /removed; waiting for the last facts/],
  ])('of %s says at %s s what is waited for', async (name, second, words) => {
    expect(await at(name, second, 120)).toMatch(words);
  });

  it.each([
    ['native-sidecar', 3.5, / \+3 s {2}kill in 9 s · app draining, l\S+$/m],
    ['prestop-exceeds-grace', 2.5, / \+2 s {2}kill in 3 s · app preStop exec…$/m],
    ['prestop-exceeds-grace', 2.5, /^ {2}app .* preStop exec$/m],
    ['exit-143', 30, /^ {2}app .* 143 at ~\+0\.1$/m],
    ['no-grace-spec-default', 60, /^ {2}app .* killed ~\+30\.\d$/m],
  ])('of %s at %s s keeps in 40 columns what matters most', async (name, second, words) => {
    expect(await at(name, second, 40)).toMatch(words);
  });

  it('keeps the time of an end and the loss of the last endpoint where long names leave little room', async () => {
    const lengthen = (sighting: Sighting) =>
      JSON.parse(JSON.stringify(sighting).replaceAll('"app"', '"application-server"')) as Sighting;
    const [moment] = await momentsOf('exit-143', [30], lengthen);
    const lines = frame(moment!.trace, moment!.now, 80, 24, plain).join('\n');
    expect(lines).toMatch(/^ {2}applica…-server .* exited 143 ~\+0\.1$/m);
    expect(lines).toMatch(/^ {2}svc\/\S+ .* unrouted \+0\.0\d, no other$/m);
  });

  it('has another sign for a turn that is waited for than for the end of the grace, in ASCII too', async () => {
    const [moment] = await momentsOf('native-sidecar', [2]);
    expect(frame(moment!.trace, moment!.now, 80, 24, ascii).join('\n')).toMatch(/^ {2}logs +\.+ +: +waits its turn/m);
  });

  it('draws no bar on after its end, however short it was', async () => {
    let ends = 0;
    for (const name of recordingNames)
      for (const { trace, now } of await momentsOf(name, [0.3, 1, 2.5, 61]))
        for (const columns of [40, 80, 100, 200]) {
          const lanes = frame(trace, now, columns, 24, plain).filter((line) => /^ {2}(svc|object)\S* .*◆/.test(line));
          ends += lanes.length;
          for (const lane of lanes) expect(lane, name).not.toMatch(/◆[─━▓]/);
        }
    expect(ends).toBeGreaterThan(100);
  });

  it('says why the kill of a forced deletion is not at once', async () => {
    expect(await at('force-delete', 1, 100)).toMatch(/\(grace 0 s, the kubelet waits 2 s\)$/);
  });

  it('draws an uncertain edge with another glyph than a certain one', async () => {
    const legacy = (await at('multi-container', 3, 120)).split('\n').find((line) => line.includes('legacy'));
    expect(legacy).toMatch(/^ {2}legacy {3}▒+█+ +┊ +draining/);
  });

  it('keeps the containers that still run, and says how many lanes it left out', async () => {
    const low = await at('multi-container', 3, 80, 5);
    expect(low).toMatch(/legacy/);
    expect(low).toMatch(/… 4 more lanes/);
    expect(low.split('\n')).toHaveLength(4);
  });

  it('shows wide and hostile names in their columns, and none that acts', async () => {
    const spoil = (name: string) => (sighting: Sighting) =>
      JSON.parse(
        JSON.stringify(sighting).replaceAll('"app"', JSON.stringify(name)).replaceAll('{app}', ''),
      ) as Sighting;
    for (const name of ['漢字漢字漢字漢字漢字漢字', hostileText.slice(0, 200)]) {
      const [moment] = await momentsOf('pending', [1], spoil(name));
      const lines = [...frame(moment!.trace, moment!.now, 60, 24, plain), ...finalPicture(moment!.trace, 60, plain)];
      expect(lines.length).toBeGreaterThan(2);
      expect(unseenIn(lines.join(''))).toEqual([]);
      for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(60);
    }
    const [wide] = await momentsOf('pending', [1], spoil('漢字漢字漢字漢字漢字漢字'));
    expect(finalPicture(wide!.trace, 60, plain).join('\n')).toMatch(/^ {2}漢字漢…漢字 /m);
  });
});
