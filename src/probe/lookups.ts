/**
 * Looks up names, as many at once as Node can. A lookup cannot be cancelled, and one that waits seconds for a silent name
 * server would delay those of later requests, even when names resolve again. So the later ones wait here.
 */
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Node looks up names in half of its four threads (libuv, threadpool.c: slow work). */
const maxOpen = 2;

/** Returns a function that makes the lookup of one connection. All these lookups share the limit. */
export function createLookups(look: LookupFunction = lookup) {
  let open = 0;
  const waiting = new Set<() => void>();
  const beginSome = (): void => {
    for (const begin of waiting) {
      if (open >= maxOpen) return;
      waiting.delete(begin);
      begin();
    }
  };
  return () => {
    let hasBegun = false;
    let begin = (): void => undefined;
    const whenFree: LookupFunction = (host, options, callback) => {
      begin = () => {
        hasBegun = true;
        open += 1;
        look(host, options, (...answer) => {
          open -= 1;
          beginSome();
          callback(...answer);
        });
      };
      waiting.add(begin);
      beginSome();
    };
    return {
      lookup: whenFree,
      /** Returns whether a name server was asked. */
      cancel(): boolean {
        waiting.delete(begin);
        return hasBegun;
      },
    };
  };
}

/** For all probes of this process. */
export const newLookup = createLookups();
