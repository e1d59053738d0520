/** How a report came to be. Pure. */
import type { Pod } from '../model/kube.ts';
import { containersOf } from '../model/pod.ts';
import type { RunReport } from '../model/report.ts';
import { printTime } from '../model/stamps.ts';
import type { Trace } from '../model/trace.ts';

/** Undefined where nobody noted it: in older recordings, and in raw ones. */
export function runReportOf({ began, pod }: Trace): RunReport | undefined {
  const { command, version, context } = began?.value ?? {};
  if (!began || !pod || command === undefined || version === undefined) return undefined;
  const image = Object.fromEntries(imagesOf(pod.value));
  return { command, version, context, startedAt: printTime(began.at, 'earlier'), image };
}

/** Container and image, of those that the report is about: main containers and sidecars. */
export const imagesOf = (pod: Pod): [string, string][] =>
  containersOf(pod).flatMap(({ name, kind, container: { image } }) =>
    image === undefined || (kind !== 'container' && kind !== 'sidecar') ? [] : [[name, image]],
  );
