/** The explanation of one word of the report: the single source of `explain` and of docs/explain.md. */
export interface Explanation {
  /** What the word means. */
  is: string;
  /** Why it matters. */
  why?: string;
  /** How it is known: which facts prove or bound it. */
  known: string;
  /** How it can be wrong, or say less than it seems. */
  wrong?: string;
  /** What to do about it; absent if there is nothing to do. */
  advice?: string;
  /** The advice as YAML for a manifest. */
  yaml?: string;
}

/** How to read the figures of a report. */
export const figures =
  'Every moment is an interval. An observed one is shown by its arrival (`+3.10`), an inferred one by the value that fits all others best (`≈+3.1`), with as many digits as its precision allows. A length is the difference of two shown moments, so that sums agree: `≈3.1s`; where no single value would be close, both bounds: `1.0–6.3s`; `≤0.5s` may be close to zero, `≥2s` has no known end. Both ends of every interval are in JSON, in HTML and in the `-v` output. Gates look at the whole interval: a gate passes only if the whole interval is within the limit.';
