/** Replaces the text between `<!-- NAME -->` or `<!-- NAME: … -->` and `<!-- /NAME -->`. Throws without these. */
export function withPart(page: string, name: string, text: string): string {
  const part = new RegExp(`(<!-- ${name}(?:: [^>]*)? -->\n\n)[^]*?(\n\n<!-- /${name} -->)`);
  if (!part.test(page)) throw new Error(`the page has no place for <!-- ${name} -->`);
  return page.replace(part, (_, begin: string, end: string) => `${begin}${text}${end}`);
}
