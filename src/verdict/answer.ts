/**
 * What a verdict says to people, beside its outcome and findings: the card prints these as they are, and the JSON report
 * takes `summary`, `cause`, `traffic` and `fix` from here. Sentences are unescaped, have no final full stop and use
 * `lengthText` for every length.
 */
import type { FindingCode } from '../model/report.ts';

export interface Answer {
  /** The card's first words: `Graceful`, `SIGKILLed`, `Exited 3`, `Requests lost`, `Interrupted`. */
  readonly word: string;
  /** What follows them in the card's first line: `app ignored SIGTERM for 6.0s (exit 137)`. */
  readonly headline: string;
  /** The card's last line, without icon: `SIGKILLed: app ignored SIGTERM for 6.0s of its 6s grace period`. */
  readonly summary: string;
  /** Why it was not graceful, or what took the time. */
  readonly cause?: { readonly code: FindingCode; readonly container?: string };
  /** Why, with its numbers, where the headline does not say it already. */
  readonly why?: string;
  readonly traffic: TrafficAnswer;
  /** What to change outside of what a patch can: the command of the image, the node. */
  readonly advice?: string;
  /** Patches, the most useful first; empty where nothing can be patched. */
  readonly fix: readonly FixAnswer[];
}

export interface TrafficAnswer {
  readonly judgement: 'safe' | 'at-risk' | 'lost' | 'not-judged';
  readonly reason: string;
  readonly services: readonly {
    readonly name: string;
    /** Ready endpoints of other pods when this one was removed. */
    readonly otherReady: number;
    /** How long no endpoint was ready, ms; `shown` stands for it, and `lasts` where it had not ended. */
    readonly noReady?: { readonly min: number; readonly max: number; readonly shown: number; readonly lasts: boolean };
  }[];
}

export interface FixAnswer {
  readonly reason: string;
  readonly target: { readonly kind: string; readonly name: string };
  /** A strategic merge patch. */
  readonly patch: object;
  /** To paste into a shell. */
  readonly command: string;
}
