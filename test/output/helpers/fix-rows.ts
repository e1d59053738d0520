/** The lines of a card without its rows `fix`, to which the limits of a card yield. */
export function withoutFixRows(lines: readonly string[]): string[] {
  let isFix = false;
  return lines.filter((line, at) => {
    const label = /^ {2}(\S+)/.exec(line)?.[1];
    if (label !== undefined || line === '' || at === lines.length - 1) isFix = label === 'fix';
    return !isFix;
  });
}
