/** The place of the closing sentence of a card, which a window wraps. */
export const endsAt = (lines: readonly string[]): number => lines.findLastIndex((line) => /^[✔✖▲?–] /.test(line));

/** The closing sentence of a card, as it is without a window. */
export const endOf = (lines: readonly string[]): string =>
  lines
    .slice(endsAt(lines))
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
