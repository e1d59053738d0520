/** Reads the wire format of protocol buffers: https://protobuf.dev/programming-guides/encoding. Enough for OTLP. */

/** A field's values in order; bytes for length-delimited ones, integers for the others (doubles as their bits). */
export type Message = Map<number, (bigint | Buffer)[]>;

export function readMessage(bytes: Buffer): Message {
  const message: Message = new Map();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('the message ends in a number');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error('the message ends in a field');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = varint();
    const type = Number(tag & 7n);
    const field = Number(tag >> 3n);
    const value = readers[type]?.(varint, take);
    if (value === undefined) throw new Error(`no such wire type: ${type}`);
    message.set(field, [...(message.get(field) ?? []), value]);
  }
  return message;
}

const readers: Record<number, (varint: () => bigint, take: (length: number) => Buffer) => bigint | Buffer> = {
  0: (varint) => varint(),
  1: (_varint, take) => take(8).readBigUInt64LE(),
  2: (varint, take) => take(Number(varint())),
  5: (_varint, take) => BigInt(take(4).readUInt32LE()),
};

export const messages = (message: Message, field: number): Message[] =>
  (message.get(field) ?? []).map((one) => readMessage(one as Buffer));
export const text = (message: Message, field: number): string =>
  (message.get(field)?.[0] as Buffer | undefined)?.toString('utf8') ?? '';
export const hex = (message: Message, field: number): string =>
  (message.get(field)?.[0] as Buffer | undefined)?.toString('hex') ?? '';
export const whole = (message: Message, field: number): bigint => (message.get(field)?.[0] as bigint | undefined) ?? 0n;
