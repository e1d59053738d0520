/** The bytes of a file → its text, as UTF-8, or as UTF-16 if a byte order mark says so: PowerShell 5 writes `>` so. Keeps the mark. */
export function decodedText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
}

/** Why a file is not read: completes "FILE …". */
export const whyUnread = ({ code, message }: NodeJS.ErrnoException): string =>
  code === 'ENOENT' ? 'does not exist' : `cannot be read (${code ?? message})`;
