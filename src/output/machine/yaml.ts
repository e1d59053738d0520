/** `-o yaml`: the same document as `-o json`. */
import { DEFAULT_SCALAR_STYLE_RULES, dump, SCALAR_STYLE, type ScalarStyleRule } from 'js-yaml';
import { forYaml, hasUnseen } from '../safe-text.ts';

/** YAML that means the same to readers of 1.1 and 1.2, as kubectl quotes it. One line per value, for grep. */
export function printYaml(value: unknown): string {
  const text = dump(value, {
    lineWidth: -1,
    noRefs: true,
    quoteStyle: 'double',
    scalarStyleRules: [quoteUnseen, ...Object.values(DEFAULT_SCALAR_STYLE_RULES)],
  });
  return forYaml(text);
}

/** Only double quotes can escape invisible characters. */
const quoteUnseen: ScalarStyleRule = (layout) => {
  if (hasUnseen(layout.node.value)) layout.style = SCALAR_STYLE.DOUBLE_QUOTED;
};
