/**
 * Splits a text of JSON documents, which may span lines or be as large as the file, into parts that can be parsed alone:
 * documents, and of a large one groups of elements of its arrays. Holds one part in memory. Pure.
 */

/** `broken`: a string ends with its line. `cut`: the text ends inside a document. The rest of the document is lost. */
export type DocumentProblem = 'broken' | 'too-long' | 'cut';

export interface SplitterOptions {
  /** An array below one of these keys belongs to a record, which is not split. */
  readonly recordKeys: ReadonlySet<string>;
  /** A longer part is dropped. */
  readonly maxBytes: number;
  /** Elements are split off in groups of this size. */
  readonly groupBytes: number;
  readonly onProblem: (problem: DocumentProblem) => void;
}

/** An array or object that is open. Offsets are relative to the text that is held. */
interface Frame {
  readonly isArray: boolean;
  /** Arrays in it, or the elements of this array, may be split off. */
  readonly isAboveRecords: boolean;
  /** Of an object: the key of the current value, and whether a string would be the next key. */
  key: string;
  isKeyNext: boolean;
  start: number;
  /** Where the last complete element of the array ends. */
  end: number;
  /** Its beginning was split off. */
  isCut: boolean;
}

const [quote, comma, backslash, lineFeed] = [0x22, 0x2c, 0x5c, 0x0a];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

export class DocumentSplitter {
  private text: Buffer = Buffer.alloc(0);
  private at = 0;
  private readonly parts: Buffer[] = [];
  /** What is before this was split off. */
  private mark = 0;
  private stringStart: number | undefined;
  private stack: Frame[] = [];
  /** After a broken document, only a bracket at the start of a line is known to begin another one. */
  private isLost = false;
  private isLineStart = true;

  constructor(private readonly options: SplitterOptions) {}

  /** The parts that this chunk completes. */
  push(chunk: Buffer): Buffer[] {
    this.text = this.text.length === 0 ? chunk : Buffer.concat([this.text, chunk]);
    while (this.at < this.text.length) {
      if (this.stringStart === undefined) this.step();
      else if (!this.endString(this.stringStart)) break;
    }
    if (this.stack.length === 0) this.forget();
    if (this.text.length > this.options.maxBytes) {
      this.options.onProblem('too-long');
      this.split();
    }
    return this.parts.splice(0);
  }

  /** What is complete at the end of the text. */
  end(): Buffer[] {
    if (this.stack.length > 0) this.lose('cut');
    return this.parts.splice(0);
  }

  /** Reads one byte outside strings. */
  private step(): void {
    const byte = this.text[this.at];
    const frame = this.stack[this.stack.length - 1];
    const mayOpen = frame !== undefined || !this.isLost || this.isLineStart;
    this.isLineStart = byte === lineFeed;
    if (mayOpen && (byte === openArray || byte === openObject)) this.open(byte === openArray, frame);
    else if (frame && (byte === closeArray || byte === closeObject)) return this.close();
    else if (frame && byte === quote) this.stringStart = this.at + 1;
    else if (frame && byte === comma) frame.isKeyNext = !frame.isArray;
    this.at += 1;
  }

  private open(isArray: boolean, parent: Frame | undefined): void {
    if (!parent) this.forget();
    const isInRecord = parent && (!parent.isAboveRecords || this.options.recordKeys.has(parent.key));
    const start = this.at + 1;
    const isAboveRecords = !isInRecord;
    this.stack.push({ isArray, isAboveRecords, key: '', isKeyNext: !isArray, start, end: start, isCut: false });
  }

  private close(): void {
    const frame = this.stack.pop();
    if (!frame) return;
    if (frame.isCut) this.takeElements(frame);
    this.at += 1;
    if (this.stack.length > 0) return this.endValue(frame.isCut);
    if (!frame.isCut) this.parts.push(this.text.subarray(0, this.at));
    this.forget();
  }

  /** False if the string goes on in the next chunk. */
  private endString(start: number): boolean {
    for (;;) {
      const found = this.text.indexOf(quote, this.at);
      const end = found < 0 ? this.text.length : found;
      const line = this.text.subarray(this.at, end).indexOf(lineFeed);
      if (line >= 0) {
        this.at += line;
        this.lose('broken');
        return true;
      }
      let escapes = 0;
      while (this.text[end - 1 - escapes] === backslash) escapes += 1;
      this.at = found < 0 ? Math.max(this.at, end - escapes) : end + 1;
      if (found < 0) return false;
      if (escapes % 2 === 0) break;
    }
    this.stringStart = undefined;
    const frame = this.stack.at(-1);
    if (frame?.isKeyNext) [frame.key, frame.isKeyNext] = [this.text.toString('utf8', start, this.at - 1), false];
    else this.endValue(false);
    return true;
  }

  /** After an array, an object or a string. */
  private endValue(isCut: boolean): void {
    const parent = this.stack[this.stack.length - 1];
    if (!parent?.isArray) return;
    parent.end = this.at;
    if (isCut) this.mark = this.at;
    const size = this.at - Math.max(this.mark, parent.start);
    if (parent.isAboveRecords && size >= this.options.groupBytes) this.split();
  }

  /** Splits off the complete elements of all arrays that are open. */
  private split(): void {
    for (const frame of this.stack) {
      this.takeElements(frame);
      frame.isCut = true;
    }
    this.forget();
  }

  private takeElements({ isArray, isAboveRecords, start, end }: Frame): void {
    let from = Math.max(start, this.mark);
    while (from < end && (this.text[from] === comma || (this.text[from] ?? 0) <= 0x20)) from += 1;
    if (!isArray || !isAboveRecords || from >= end) return;
    this.parts.push(Buffer.concat([Buffer.of(openArray), this.text.subarray(from, end), Buffer.of(closeArray)]));
  }

  private lose(problem: DocumentProblem): void {
    this.options.onProblem(problem);
    this.split();
    [this.stack, this.stringStart, this.isLost] = [[], undefined, true];
  }

  /** Drops what is before `at`. */
  private forget(): void {
    for (const frame of this.stack) [frame.start, frame.end] = [frame.start - this.at, frame.end - this.at];
    if (this.stringStart !== undefined) this.stringStart -= this.at;
    this.text = this.text.subarray(this.at);
    [this.mark, this.at] = [0, 0];
  }
}
