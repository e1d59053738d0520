/** From the tenth within ten minutes on Events that are alike are one, whose message is the newest's (SIGNALS.md §2.1). */
const prefix = '(combined from similar events): ';

export const isMerged = ({ message }: { readonly message: string }): boolean => message.startsWith(prefix);

/** The message as the newest of them was written. */
export const newestMessage = (event: { readonly message: string }): string =>
  isMerged(event) ? event.message.slice(prefix.length) : event.message;
