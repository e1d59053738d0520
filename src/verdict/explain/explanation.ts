/** What a word of the report means: the single source of `explain` and of docs/explain.md. */
export interface Explanation {
  /** What it is. */
  is: string;
  /** Why it matters. */
  why?: string;
  /** How it is known: which facts prove or bound it. */
  known: string;
  /** How it can be wrong, or say less than it seems. */
  wrong?: string;
  /** What to do about it. */
  advice: string;
  /** The same for a manifest. */
  yaml?: string;
}
