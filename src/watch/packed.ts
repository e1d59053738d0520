/**
 * Keeps the last state of a pod in little memory: thousands of pods are watched all day, and few of them terminate. The
 * pods of one workload differ in little, so each is deflated with another pod of its workload as the dictionary.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ObservationOf } from '../model/observation.ts';

/** An observation of one pod: its last change, or its part of a list. */
export type PodSeen = ObservationOf<'changed'> | ObservationOf<'listed'>;

export interface PackedPod {
  readonly bytes: string;
  readonly dictionary: Buffer;
}

export function createPacker() {
  const dictionaries = new Map<string, Buffer>();
  return {
    /** `kin`: pods with the same word look alike. */
    pack(seen: PodSeen, kin: string): PackedPod {
      const text = Buffer.from(JSON.stringify(seen));
      const known = dictionaries.get(kin);
      // A pod that has just been created says little: the longest state so far has the most in common with others.
      const dictionary = known && known.length * 1.1 > text.length ? known : text;
      if (dictionary !== known) {
        // A packed pod keeps its own alive.
        if (dictionaries.size >= 2000) dictionaries.clear();
        dictionaries.set(kin, dictionary);
      }
      // Small windows: each call allocates its own. Longer dictionaries would not be used as a whole.
      const bytes = deflateRawSync(text, { level: 1, memLevel: 4, windowBits: 12, dictionary });
      // Latin-1: one byte a character, and no buffer of its own for each pod.
      return { bytes: bytes.toString('latin1'), dictionary };
    },
    unpack: ({ bytes, dictionary }: PackedPod): PodSeen =>
      JSON.parse(inflateRawSync(Buffer.from(bytes, 'latin1'), { dictionary }).toString()) as PodSeen,
  };
}
