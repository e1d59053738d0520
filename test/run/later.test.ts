/** What waits until the burst after a DELETE is over. */
import { expect, it } from 'vitest';
import type { Clock } from '../../src/run/clock.ts';
import { createLater } from '../../src/run/later.ts';

/** A clock whose timers fire when time is let pass. */
function slowClock() {
  let now = 0;
  const timers = new Map<() => void, number>();
  const clock: Clock = {
    now: () => now,
    setTimeout(callback, ms) {
      timers.set(callback, now + ms);
      return () => void timers.delete(callback);
    },
  };
  const pass = (ms: number): void => {
    for (const end = now + ms; now < end; now += 1)
      for (const [callback, at] of timers) if (at <= now && timers.delete(callback)) callback();
  };
  return { clock, pass, waiting: () => timers.size };
}

function started(...names: string[]) {
  const time = slowClock();
  const done: string[] = [];
  const stop = new AbortController();
  const later = createLater(time.clock, stop.signal);
  const add = (name: string): void => later.add(() => void done.push(`${name} at ${time.clock.now()}`));
  names.forEach(add);
  return { ...time, done, stop, later, add };
}

it('does nothing before the DELETE, then one thing after the other', () => {
  const { later, pass, done } = started('a', 'b', 'c');
  pass(1000);
  expect(done).toEqual([]);
  later.start();
  pass(1000);
  expect(done).toEqual(['a at 1200', 'b at 1250', 'c at 1300']);
});

it('lets what comes later wait for its turn, also when it comes of a turn', () => {
  const { later, pass, done, add } = started('a');
  later.add(() => ['of b', 'of b, too'].forEach(add));
  later.start();
  pass(600);
  add('late');
  pass(100);
  expect(done).toEqual(['a at 200', 'of b at 300', 'of b, too at 350', 'late at 650']);
});

it('does the rest at once in a hurry, each thing once', () => {
  const { later, pass, done, add, waiting } = started('a', 'b', 'c');
  later.start();
  pass(210);
  later.hurry();
  add('d');
  later.hurry();
  later.start();
  pass(1000);
  expect(done).toEqual(['a at 200', 'b at 210', 'c at 210', 'd at 210']);
  expect(waiting()).toBe(0);
});

it('does nothing any more, and keeps no timer, when the run is over', () => {
  const { later, pass, done, add, stop, waiting } = started('a', 'b');
  later.start();
  pass(210);
  stop.abort();
  expect(waiting()).toBe(0);
  later.hurry();
  add('c');
  pass(1000);
  expect(done).toEqual(['a at 200']);
});
