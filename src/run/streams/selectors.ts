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
