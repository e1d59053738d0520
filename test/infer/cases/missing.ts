/** The edits of missing.yaml. */
import type { StreamName } from '../../../src/model/observation.ts';
import { adding, slicesRefused } from '../../helpers/cases.ts';
import type { Edit } from './case.ts';

/** A gap of this stream, which ends at `toMs` of the run. */
export const gapOf =
  (stream: StreamName, toMs?: number): Edit =>
  (all) => {
    const from = (all[0]?.at ?? 0) + 30;
    const to = toMs === undefined ? {} : { to: from - 30 + toMs };
    return adding(all, { at: from, kind: 'gap', stream, from, ...to, cause: 'disconnected' });
  };

export const slicesDenied: Edit = (all) => adding(all, slicesRefused((all[0]?.at ?? 0) + 20));

/** The kubelet has dropped the log. */
export const logDropped: Edit = (all) =>
  adding(all, {
    ...{ at: (all[0]?.at ?? 0) + 20, kind: 'refused', stream: 'logs', container: 'app', status: 404 },
    ...{ verb: 'get', resource: 'pods/log', group: '', message: 'not found' },
  });
