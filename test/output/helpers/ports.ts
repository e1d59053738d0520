/** A terminal of a given size, as the views see it. */
import type { Clock, Output, OutputPorts } from '../../../src/output/ports.ts';

export const outputOf = (write: (text: string) => void, size: { columns: number; rows: number }): Output => ({
  write,
  isTty: true,
  columns: () => size.columns,
  rows: () => size.rows,
  onResize: () => () => {},
  onSuspend: () => () => {},
  closed: new Promise(() => {}),
});

export const portsOn = (stdout: Output, clock: Clock): OutputPorts => ({
  stdout,
  stderr: stdout,
  env: {},
  clock,
  platform: 'linux',
  version: 'test',
});
