/** Processes a limited number of items in parallel. Results are in the order of the items. */
export async function sideBySide<T, R>(
  things: readonly T[],
  most: number,
  work: (thing: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = things.entries();
  const worker = async (): Promise<void> => {
    for (const [index, thing] of queue) results[index] = await work(thing);
  };
  await Promise.all(Array.from({ length: most }, worker));
  return results;
}
