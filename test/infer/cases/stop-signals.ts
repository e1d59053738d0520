/** Which stop signal a container got: the API rarely names it, and never the STOPSIGNAL of an image. */
import { expect } from 'vitest';
import type { RawObservation } from '../../../src/model/observation.ts';
import { renderText } from '../../../src/render/lines.ts';
import type { Case, Edit } from './case.ts';
import { each, ending } from './edits.ts';
import { mustRender, observationsOf, traceOf } from '../../helpers/recordings.ts';

const withImage = (image: string): Edit =>
  each('pod', (pod) => {
    const containers = pod.spec['containers'] as Record<string, unknown>[];
    return { ...pod, spec: { ...pod.spec, containers: containers.map((one) => ({ ...one, image })) } };
  });

/** The card and the marks say `text`, and name no other signal. */
const isShownAs = (text: string) => (_report: unknown, rawObservations: readonly RawObservation[]) => {
  const shown = renderText(mustRender(traceOf(observationsOf(rawObservations))));
  expect(shown).toContain(text);
  expect(shown.match(/SIG(?!KILL)[A-Z0-9]+/g)?.filter((name) => !text.includes(name))).toEqual([]);
};

const byExitCode = [
  [130, 'SIGINT'],
  [131, 'SIGQUIT'],
  [138, 'SIGUSR1'],
  [143, 'SIGTERM'],
] as const;

const byImage = [
  ['nginx:1.27', 'SIGQUIT'],
  ['docker.io/library/postgres@sha256:0', 'SIGINT'],
  ['registry.example/team/shop:2', 'SIGTERM'],
] as const;

export const stopSignals: Record<string, readonly Case[]> = {
  'the stop signal': [
    ...byExitCode.map(([code, name]): Case => ({
      sentence: `is ${name} if it ended the container with ${code}`,
      of: 'graceful-exit',
      edit: [ending({ exitCode: code, reason: 'Error' })],
      expect: {
        containers: { app: { outcome: 'signalled', stopSignal: true } },
        holds: isShownAs(`exited ${code} (${name})`),
      },
    })),
    ...byImage.map(([image, name]): Case => ({
      sentence: `is ${name} for the image ${image}, if nothing else shows it`,
      of: 'graceful-exit',
      edit: [withImage(image)],
      expect: { containers: { app: { outcome: 'completed' } }, holds: isShownAs(`${name} sent`) },
    })),
    {
      sentence: 'is that of the exit code if the image would have another one',
      of: 'graceful-exit',
      edit: [withImage('nginx'), ending({ exitCode: 143, reason: 'Error' })],
      expect: { holds: isShownAs('exited 143 (SIGTERM)') },
    },
    {
      sentence: 'of an image that sets another one is not ignored by a trap for SIGTERM',
      of: 'sigkill-after-grace',
      edit: [withImage('nginx')],
      expect: {
        outcome: 'killed',
        says: { 'no-signal-handling': /^app showed no reaction to SIGQUIT/ },
        noMessage: /ignores SIGTERM/,
      },
    },
  ],
};
