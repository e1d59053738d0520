/** Known errors speak: what happened to which object, and the next step. Unknown errors keep their stack. */
export class PodexitError extends Error {
  override readonly name = 'PodexitError';

  constructor(
    /** Stable, for scripts: `area.what`, e.g. `pod.not-found`. */
    readonly code: string,
    /** One sentence that names the object. */
    message: string,
    /** One sentence that names the next step. */
    readonly hint: string,
    options: { exitCode?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
  }

  /** 1 unless said otherwise. */
  readonly exitCode: number;

  /** By name: what is loaded on demand is in another bundle, which has its own copy of this class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'PodexitError';
  }
}
