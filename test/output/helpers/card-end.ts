/** The place of the closing sentence of a card, which a window wraps. */
export const endsAt = (lines: readonly string[]): number => lines.findLastIndex((line) => /^[✔✖▲?–] /.test(line));

/** The lines that the limit of a card counts: without the fix, and the closing sentence of a good card as one. */
export function countedLines(lines: readonly string[], isGood: boolean): number {
  const end = endsAt(lines);
  const fix = lines.findIndex((line) => /^ {2}fix /.test(line));
  return (fix < 0 ? end : fix) + (isGood ? 1 : lines.length - end);
}

/** The closing sentence of a card, as it is without a window. */
export const endOf = (lines: readonly string[]): string =>
  lines
    .slice(endsAt(lines))
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
