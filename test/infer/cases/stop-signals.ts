/** The edits and checks of stop-signals.yaml. */
import { expect } from 'vitest';
import type { RawObservation } from '../../../src/model/observation.ts';
import { renderText } from '../../../src/output/text/lines.ts';
import type { Check, Edit } from './case.ts';
import { each } from './edits.ts';
import { mustRender, observationsOf, traceOf } from '../../helpers/recordings.ts';

export const withImage = (image: string): Edit =>
  each('pod', (pod) => {
    const containers = pod.spec['containers'] as Record<string, unknown>[];
    return { ...pod, spec: { ...pod.spec, containers: containers.map((one) => ({ ...one, image })) } };
  });

export const withCommand = (...command: readonly string[]): Edit =>
  each('pod', (pod) => {
    const containers = pod.spec['containers'] as Record<string, unknown>[];
    return { ...pod, spec: { ...pod.spec, containers: containers.map((one) => ({ ...one, command })) } };
  });

/** The marks and the card say all of `texts`, and name no other signal. */
export const isShownAs =
  (...texts: readonly string[]) =>
  (_report: unknown, rawObservations: readonly RawObservation[]) => {
    const shown = renderText(mustRender(traceOf(observationsOf(rawObservations))));
    for (const text of texts) expect(shown).toContain(text);
    const names = shown.match(/SIG(?!KILL)[A-Z0-9]+/g) ?? [];
    expect(names.filter((name) => !texts.join().includes(name))).toEqual([]);
  };

export const saysThatDashEnds: Check = (_, rawObservations) =>
  expect(renderText(mustRender(traceOf(observationsOf(rawObservations))))).toContain(
    'probably SIGTERM ends dash at once, and the application with it',
  );

/** Every line of the log has this text. */
export const logging =
  (text: string): Edit =>
  (all) =>
    all.map((one) => (one.kind === 'line' ? { ...one, text } : one));
