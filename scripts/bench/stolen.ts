/** CPU time that the host takes away from a virtual machine, which delays every program on it. */
import { readFileSync } from 'node:fs';

/** ms, over all processors since the machine started; undefined if unknown (Linux counts in steps of 10 ms). */
export function stolenMs(): number | undefined {
  try {
    // proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal; in hundredths of a second.
    const [, , , , , , , , steal] = readFileSync('/proc/stat', 'utf8').split(/\s+/);
    return Number(steal) * 10;
  } catch {
    return undefined;
  }
}
