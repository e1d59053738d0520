/** `-o yaml`: the same document as `-o json`. */
import { Document, isScalar, Scalar, visit } from 'yaml';
import type { ExitReport } from '../trace/report.ts';
import { inOrder, reportOrder } from './key-order.ts';
import { forJson, hasUnseen } from './safe-text.ts';

/** The report as YAML 1.2. Strings that hold anything unseen are double-quoted, the one style that can escape it. */
export function renderYaml(report: ExitReport): string {
  const document = new Document(inOrder(report, reportOrder), { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (isScalar(node) && typeof node.value === 'string' && hasUnseen(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  // Folding would let a long string's escapes be parted; one line a value also greps better.
  return forJson(document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER }));
}
