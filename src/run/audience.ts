/** Opens what stdout shows only when there is something to show. */
import type { Observation } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';
import type { Stage } from '../output/view.ts';
import { newestOf, type Step } from './run.ts';

/**
 * Opens the stage when there is something to show, because loading it earlier would delay the DELETE. Until then the
 * run only lists what exists: the newest trace and all log lines are kept, and shown in order once the stage is open.
 */
export function openOnDeletion(open: () => Promise<Stage>): Stage {
  let heldSteps: Step[] = [];
  let stage: Stage | undefined;
  let opening: Promise<Stage> | undefined;
  let isClosed = false;
  const opened = (): Promise<Stage> =>
    (opening ??= open().then((loaded) => {
      stage = loaded;
      if (isClosed) loaded.close();
      else heldSteps.forEach((step) => loaded.step(...step));
      return loaded;
    }));
  return {
    step: (trace, observation, key) => {
      if (stage) return stage.step(trace, observation, key);
      heldSteps = newestOf([...heldSteps, [trace, observation, key]]);
      // `end` throws the error.
      if (isWorthShowing(trace, observation)) void opened().catch(() => undefined);
    },
    end: async (report) => (await opened()).end(report),
    say: (text) => stage?.say(text) ?? false,
    close: () => {
      isClosed = true;
      stage?.close();
    },
  };
}

/** True from the DELETE on: the stage loads while the server handles it, in time for the first marks. */
const isWorthShowing = ({ deletion, began }: Trace, { kind }: Observation): boolean =>
  deletion !== undefined ||
  began?.value.mode !== 'delete' ||
  kind === 'requested' ||
  kind === 'gap' ||
  kind === 'refused';
