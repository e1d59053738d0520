/** A small seeded generator (sfc32): the same seed draws the same story on every machine. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #count = 1;

  constructor(seed: number) {
    this.#a = seed >>> 0;
    this.#b = Math.floor(seed / 2 ** 32) ^ 0x9e3779b9;
    this.#c = 0x243f6a88;
    for (let round = 0; round < 12; round++) this.next();
  }

  /** In [0, 1). */
  next(): number {
    const sum = (this.#a + this.#b + this.#count++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** A whole number in [low, high]. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of `choices`, which must not be empty. */
  pick<T>(choices: readonly T[]): T {
    const choice = choices[Math.floor(this.next() * choices.length)];
    if (choice === undefined) throw new RangeError('nothing to pick from');
    return choice;
  }

  /** `[weight, choice]` pairs. */
  weighted<T>(...choices: readonly (readonly [number, T])[]): T {
    const total = choices.reduce((sum, [weight]) => sum + weight, 0);
    let left = this.next() * total;
    for (const [weight, choice] of choices) {
      left -= weight;
      if (left < 0) return choice;
    }
    return this.pick(choices)[1];
  }

  hex(digits: number): string {
    return this.#letters(digits, '0123456789abcdef');
  }

  /** A suffix in the alphabet of Kubernetes' generated names. */
  suffix(length = 5): string {
    return this.#letters(length, 'bcdfghjklmnpqrstvwxz2456789');
  }

  uuid(): string {
    return [this.hex(8), this.hex(4), `4${this.hex(3)}`, `8${this.hex(3)}`, this.hex(12)].join('-');
  }

  #letters(count: number, alphabet: string): string {
    let text = '';
    for (let index = 0; index < count; index++) text += alphabet[Math.floor(this.next() * alphabet.length)];
    return text;
  }
}
