/** `-o json`: the report itself. Read back, it is the report; looked at on a terminal, it is harmless. */
import type { ExitReport } from '../model/report.ts';
import type { KeyOrder } from './key-order.ts';
import { inOrder, reportOrder } from './key-order.ts';
import { forJson } from './safe-text.ts';

/** The report as a JSON document: two spaces, the contract's order of keys, a final newline. */
export function renderJson(report: ExitReport): string {
  return `${jsonText(report, reportOrder, 2)}\n`;
}

/** JSON with ordered keys and no control, bidi or invisible character in it; one line without an indent. */
export function jsonText(value: unknown, order: KeyOrder, indent?: number): string {
  return forJson(JSON.stringify(inOrder(value, order), null, indent));
}
