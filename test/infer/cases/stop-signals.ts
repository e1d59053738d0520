/** Which stop signal a container got: the API rarely names it, and never the STOPSIGNAL of an image. */
import { expect } from 'vitest';
import type { RawObservation } from '../../../src/model/observation.ts';
import { renderText } from '../../../src/output/text/lines.ts';
import type { Case, Edit } from './case.ts';
import { each, ending } from './edits.ts';
import { mustRender, observationsOf, traceOf } from '../../helpers/recordings.ts';

const withImage = (image: string): Edit =>
  each('pod', (pod) => {
    const containers = pod.spec['containers'] as Record<string, unknown>[];
    return { ...pod, spec: { ...pod.spec, containers: containers.map((one) => ({ ...one, image })) } };
  });

const withCommand = (...command: readonly string[]): Edit =>
  each('pod', (pod) => {
    const containers = pod.spec['containers'] as Record<string, unknown>[];
    return { ...pod, spec: { ...pod.spec, containers: containers.map((one) => ({ ...one, command })) } };
  });

/** The marks and the card say all of `texts`, and name no other signal. */
const isShownAs =
  (...texts: readonly string[]) =>
  (_report: unknown, rawObservations: readonly RawObservation[]) => {
    const shown = renderText(mustRender(traceOf(observationsOf(rawObservations))));
    for (const text of texts) expect(shown).toContain(text);
    const names = shown.match(/SIG(?!KILL)[A-Z0-9]+/g) ?? [];
    expect(names.filter((name) => !texts.join().includes(name))).toEqual([]);
  };

const otherExitCodes = [
  [130, 'SIGINT'],
  [131, 'SIGQUIT'],
  [138, 'SIGUSR1'],
] as const;

const byImage = [
  ['nginx:1.27', 'SIGQUIT'],
  ['docker.io/library/postgres@sha256:0', 'SIGINT'],
  ['php:8.3-fpm-alpine', 'SIGQUIT'],
  ['php:8.3-cli', 'SIGTERM'],
  ['registry.example/team/shop:2', 'SIGTERM'],
] as const;

export const stopSignals: Record<string, readonly Case[]> = {
  'the stop signal': [
    ...otherExitCodes.map(([code, name]): Case => ({
      sentence: `has no name if the container ended with ${code}: the image may set ${name}, or the application choose the code`,
      of: 'graceful-exit',
      edit: [ending({ exitCode: code, reason: 'Error' })],
      expect: {
        containers: { app: { outcome: 'signalled', stopSignal: true } },
        holds: isShownAs('  stop signal sent', `exited ${code} (${name})`),
      },
    })),
    {
      sentence: 'is SIGTERM if the container ended with 143',
      of: 'graceful-exit',
      edit: [ending({ exitCode: 143, reason: 'Error' })],
      expect: { containers: { app: { outcome: 'signalled' } }, holds: isShownAs('SIGTERM sent') },
    },
    ...byImage.map(([image, name]): Case => ({
      sentence: `is ${name} for the image ${image}, if nothing else shows it`,
      of: 'graceful-exit',
      edit: [withImage(image)],
      expect: { containers: { app: { outcome: 'completed' } }, holds: isShownAs(`${name} sent`) },
    })),
    {
      sentence: 'ends lighttpd with 1, which is its normal end',
      of: 'graceful-exit',
      edit: [withCommand('/usr/sbin/lighttpd', '-D'), ending({ exitCode: 1, reason: 'Error' })],
      expect: { outcome: 'graceful', containers: { app: { outcome: 'signalled' } } },
    },
    {
      sentence: 'ends npm with 1 where its shell is dash, and the application with it',
      of: 'graceful-exit',
      edit: [withImage('node:22'), withCommand('npm', 'start'), ending({ exitCode: 1, reason: 'Error' })],
      expect: {
        outcome: 'failed',
        containers: { app: { outcome: 'failed' } },
        holds: (_, raw) => {
          const shown = renderText(mustRender(traceOf(observationsOf(raw))));
          expect(shown).toContain('probably SIGTERM ends dash at once, and the application with it');
        },
      },
    },
    {
      sentence: 'has no name if the image and the exit code differ',
      of: 'graceful-exit',
      edit: [withImage('nginx'), ending({ exitCode: 143, reason: 'Error' })],
      expect: { holds: isShownAs('  stop signal sent', 'exited 143 (SIGTERM)') },
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
