/** What a host takes from a virtual machine: whoever waits on one is late, whatever the program does. */
import { readFileSync } from 'node:fs';

/** ms of all processors since the machine started; undefined where nothing tells (Linux does, in steps of 10 ms). */
export function stolenMs(): number | undefined {
  try {
    // proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal; in hundredths of a second.
    const [, , , , , , , , steal] = readFileSync('/proc/stat', 'utf8').split(/\s+/);
    return Number(steal) * 10;
  } catch {
    return undefined;
  }
}
