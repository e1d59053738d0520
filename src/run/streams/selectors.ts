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
const operators: Record<string, (value: string | undefined, values: string[]) => boolean> = {
  In: (value, values) => value !== undefined && values.includes(value),
  NotIn: (value, values) => value === undefined || !values.includes(value),
  Exists: (value) => value !== undefined,
  DoesNotExist: (value) => value === undefined,
};

/** A label selector as a query parameter, without expressions that the API does not have. */
export function printLabels({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const equal = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const others = matchExpressions.flatMap(({ key, operator, values }) => {
    if (key === '' || !Object.hasOwn(operators, operator)) return [];
    if (operator === 'In' || operator === 'NotIn') return [`${key} ${operator.toLowerCase()} (${values.join(',')})`];
    return [operator === 'Exists' ? key : `!${key}`];
  });
  return [...equal, ...others].join(',');
}

/** A field selector as a query parameter; `\`, `,` and `=` are escaped as apimachinery does. */
export const printFields = (fields: Record<string, string>): string =>
  Object.entries(fields)
    .map(([key, value]) => `${key}=${value.replace(/[\\,=]/g, '\\$&')}`)
    .join(',');
