/** A terminal's output as an SVG picture, for the README. Of SGR it keeps only the sixteen colours. */

const width = 84;
const cell = { x: 8.43, y: 19 };
const pad = 18;

/** `text`: lines with SGR sequences of sixteen colours. `title`: the command, in the window's bar. */
export function terminalSvg(title: string, text: string): string {
  const lines = text.trimEnd().split('\n');
  const size = { x: Math.ceil(width * cell.x + 2 * pad), y: Math.ceil(lines.length * cell.y + 2 * pad + 26) };
  const rows = lines.map((line, index) => row(line, pad + 44 + index * cell.y));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.x} ${size.y}" width="${size.x}" height="${size.y}" role="img" aria-label="${escaped(`Terminal: ${title}`)}">
<rect width="100%" height="100%" rx="9" fill="#14171c"/>
<g fill="#3a404a"><circle cx="20" cy="18" r="5"/><circle cx="37" cy="18" r="5"/><circle cx="54" cy="18" r="5"/></g>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" fill="#e6e3dc" xml:space="preserve">
<text x="74" y="22" fill="#9aa2ae" font-size="12.5">$ ${escaped(title)}</text>
${rows.join('\n')}
</g>
</svg>
`;
}

const colours: Record<string, string> = {
  '31': '#ff8d82',
  '32': '#63cf9b',
  '33': '#efb956',
  '36': '#6fc3df',
  '94': '#8bbcf2',
  '2': '#9aa2ae',
};

/** Places each run of one style at its column, so that columns stay aligned in fonts of other widths. */
function row(line: string, y: number): string {
  const spans: string[] = [];
  let column = 0;
  let style = '';
  // oxlint-disable-next-line no-control-regex -- SGR begins with an escape
  for (const part of line.split(/(\u001b\[\d+m)/)) {
    const code = /\[(\d+)m$/.exec(part)?.[1];
    if (code !== undefined) style = code === '1' ? 'font-weight="700"' : colours[code] ? `fill="${colours[code]}"` : '';
    else if (part !== '') {
      // Browsers drop spaces at the ends, whatever xml:space says, so words are placed by their column.
      const words = part.trim();
      const at = pad + (column + part.length - part.trimStart().length) * cell.x;
      const ink = style === '' ? '' : `${style} `;
      if (words !== '')
        spans.push(
          `<tspan x="${at.toFixed(1)}" ${ink}textLength="${(words.length * cell.x).toFixed(1)}" lengthAdjust="spacingAndGlyphs">${escaped(words)}</tspan>`,
        );
      column += part.length;
    }
  }
  return `<text y="${y.toFixed(1)}">${spans.join('')}</text>`;
}

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one] ?? one);
