/** A loopback cluster for commands in this process: both sides have one patient clock. */
import type { Clock } from '../../src/output/ports.ts';
import type { FaultyOptions } from '../sim/faults/faulty-server.ts';
import { clockOfTest, patientClock } from './patient-clock.ts';
import { serving, type Serving } from './serving.ts';
// What a run imports when it needs it: the clock goes on while Vitest finds it.
import '../../src/cli/trace-commands.ts';
import '../../src/kube/http/sessions.ts';
import '../../src/output/documents.ts';
import '../../src/output/render.ts';
import '../../src/output/report-files.ts';
import '../../src/run/deleting/delete-once.ts';
import '../../src/run/ending/trace-end.ts';
import '../../src/run/group/finish.ts';
import '../../src/run/group/trace-several.ts';
import '../../src/run/streams/streams-of-several.ts';

export interface PatientServing extends Serving {
  clock: Clock;
  /** Waits on this clock. */
  pause(ms: number): Promise<void>;
  /** Waits until the command has sent a request, and has had time to read the answer. */
  asked(verb: string, resource: string): Promise<void>;
}

export function servingPatiently<T>(
  name: string,
  options: Partial<FaultyOptions>,
  work: (serving: PatientServing) => Promise<T>,
): Promise<T> {
  const clock = patientClock(10);
  const pause = (ms: number): Promise<void> => new Promise((resolve) => clock.setTimeout(resolve, ms));
  return serving(name, { ...options, clock }, (one) => {
    const { requests } = one.server;
    const asked = async (verb: string, resource: string): Promise<void> => {
      while (!requests.some((request) => request.verb === verb && request.resource === resource)) await pause(20);
      await pause(300);
    };
    return clockOfTest.run(clock, () => work({ ...one, clock, pause, asked }));
  });
}
