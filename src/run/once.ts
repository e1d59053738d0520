/** Does it the first time it is asked to. */
export function once<T extends unknown[]>(work: (...words: T) => void): (...words: T) => void {
  let done = false;
  return (...words) => {
    if (done) return;
    done = true;
    work(...words);
  };
}
