/** Label and field selectors, as an API server reads them: matched against labels, printed as query parameters. */

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values: string[] }[];
}

/** An empty selector matches everything. */
export function matches(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector = {},
  labels: Record<string, string>,
): boolean {
  const equal = Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
  return equal && matchExpressions.every((one) => operators[one.operator]?.(labels[one.key], one.values) ?? false);
}

/** By operator name, as in the selector of an object. */
export const operators: Record<string, (value: string | undefined, values: string[]) => boolean> = {
  In: (value, values) => value !== undefined && values.includes(value),
  NotIn: (value, values) => value === undefined || !values.includes(value),
  Exists: (value) => value !== undefined,
  DoesNotExist: (value) => value === undefined,
};

/** Whether `wide` selects everything that `narrow` selects, judged by their requirements alone. */
export const covers = (wide: LabelSelector, narrow: LabelSelector): boolean =>
  requirementsOf(wide).every((one) => requirementsOf(narrow).some((other) => isImplied(one, other)));

type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];

const requirementsOf = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): Requirement[] => [
  ...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
  ...matchExpressions,
];

function isImplied({ key, operator, values }: Requirement, given: Requirement): boolean {
  const holds = operators[operator];
  if (key !== given.key || !holds) return false;
  if (given.operator === 'In') return given.values.every((value) => holds(value, values));
  return operator === given.operator && values.every((value) => given.values.includes(value));
}

/** Parses a label selector; undefined if it has an unknown operator. */
export function readLabels(text: string): LabelSelector | undefined {
  const parts = text.split(/,(?![^()]*\))/).map((part) => part.trim());
  if (parts.length === 1 && parts[0] === '') return {};
  const read = parts.map(readRequirement);
  return read.every((one) => one !== undefined) ? { matchExpressions: read } : undefined;
}

function readRequirement(text: string): Requirement | undefined {
  const { not, key = '', sign, value = '', operator, list = '' } = requirement.exec(text)?.groups ?? {};
  if (key === '') return undefined;
  if (sign !== undefined) return { key, operator: sign === '!=' ? 'NotIn' : 'In', values: [value] };
  if (operator !== undefined)
    return { key, operator: operator === 'in' ? 'In' : 'NotIn', values: list.split(',').map((one) => one.trim()) };
  return { key, operator: not ? 'DoesNotExist' : 'Exists', values: [] };
}

/** Like labels.Parse of apimachinery, without the numeric comparisons. */
const requirement =
  /^(?:(?<not>!)\s*)?(?<key>[\w./-]+)(?:\s*(?<sign>==|=|!=)\s*(?<value>[\w.-]*)|\s+(?<operator>in|notin)\s*\((?<list>[\w.,\s-]*)\))?$/;

/** A label selector as a query parameter. */
export function printLabels({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const printers: Record<string, (key: string, values: string[]) => string> = {
    In: (key, values) => `${key} in (${values.join(',')})`,
    NotIn: (key, values) => `${key} notin (${values.join(',')})`,
    Exists: (key) => key,
    DoesNotExist: (key) => `!${key}`,
  };
  const equal = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  return [...equal, ...matchExpressions.flatMap((one) => printers[one.operator]?.(one.key, one.values) ?? [])].join(
    ',',
  );
}

/** A field selector as a query parameter; `\`, `,` and `=` are escaped as apimachinery does. */
export const printFields = (fields: Record<string, string>): string =>
  Object.entries(fields)
    .map(([key, value]) => `${key}=${value.replace(/[\\,=]/g, '\\$&')}`)
    .join(',');
