/** `--record-dir`: a recording of each exit, in a folder of limited size; the oldest go first. */
import { mkdirSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Observation } from '../model/observation.ts';
import type { Pod } from '../model/kube.ts';
import { unrecordable } from '../recording/recorder.ts';
import type { Ports } from '../run/ports.ts';
import { recorderFor } from '../output/report-files.ts';
import type { Droppable } from './exit-counts.ts';

export interface RecordingFolder {
  readonly folder: string;
  /** All recordings together. */
  readonly maxBytes: number;
}

/** Throws `record.unwritable` if the folder cannot be read or made. */
export function createRecordings(
  { folder, maxBytes }: RecordingFolder,
  ports: Pick<Ports, 'clock' | 'version'>,
  dropped: (what: Droppable, why: string) => void,
) {
  const kept = recordingsIn(folder);
  const rotate = (): void => {
    let total = kept.reduce((sum, { bytes }) => sum + bytes, 0);
    for (let oldest = kept[0]; oldest && total > maxBytes && kept.length > 1; oldest = kept[0]) {
      total -= oldest.bytes;
      kept.shift();
      remove(join(folder, oldest.name));
    }
  };
  return {
    /** Writes the log of an exit. A failure costs only recordings. */
    save(pod: Pod, log: readonly Observation[]): void {
      const name = nameOf(new Date(ports.clock.now()).toISOString(), pod);
      const file = join(folder, name);
      let failure: Error | undefined;
      try {
        const recorder = recorderFor(file, false, ports, (error) => (failure = error));
        recorder.write(log);
        recorder.close();
        if (!failure) kept.push({ name, bytes: statSync(file).size });
      } catch (error) {
        failure = error as Error;
      }
      if (!failure) return rotate();
      remove(file);
      dropped('recordings', failure.message);
    },
  };
}

function recordingsIn(folder: string): { name: string; bytes: number }[] {
  try {
    mkdirSync(folder, { recursive: true });
    const names = readdirSync(folder).filter((name) => /^\d{8}T\d{6}\.\d{3}Z_.*\.ndjson$/.test(name));
    return names.sort().map((name) => ({ name, bytes: statSync(join(folder, name)).size }));
  } catch (cause) {
    throw unrecordable(folder, (cause as NodeJS.ErrnoException).code ?? String(cause), cause);
  }
}

/** Somebody else may have deleted it. */
function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It is gone, or it stays: neither stops the watch.
  }
}

/** `20261128T100431.204Z_shop_checkout-258qr_1f2e3d4c.ndjson`: the cluster's names are only letters, digits, "-" and "." here. */
function nameOf(recorded: string, { metadata: { namespace = '', name, uid } }: Pod): string {
  const safe = (text: string): string => text.replace(/[^\w.-]/g, '-').slice(0, 80);
  return `${recorded.replace(/[-:]/g, '')}_${safe(namespace)}_${safe(name)}_${safe(uid).slice(0, 8)}.ndjson`;
}
