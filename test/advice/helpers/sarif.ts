/** The parts of SARIF 2.1.0 that a check uses, as in the OASIS standard. Any other property is an error. */
import Ajv2020 from 'ajv/dist/2020.js';

const object = (properties: object, required: readonly string[]) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
});
const list = (items: object, minItems = 0) => ({ type: 'array', items, minItems });
const text = { type: 'string', minLength: 1 };

/** §3.11, §3.12: a message; plain text is required here. */
const message = object({ text }, ['text']);
/** §3.10.2: a URI reference by RFC 3986, so without spaces and backslashes. */
const uri = { type: 'string', pattern: '^[^\\s\\\\]+$' };
const physicalLocation = object(
  {
    artifactLocation: object({ uri }, ['uri']),
    region: object({ startLine: { type: 'integer', minimum: 1 } }, ['startLine']),
  },
  ['artifactLocation'],
);
/** §3.33.7: the kinds include `resource`. */
const logicalLocation = object({ name: text, fullyQualifiedName: text, kind: { const: 'resource' } }, []);
const location = object({ physicalLocation, logicalLocations: list(logicalLocation) }, []);
const level = { enum: ['none', 'note', 'warning', 'error'] };

const driver = object(
  { name: text, version: text, rules: list(object({ id: text, shortDescription: message }, ['id'])) },
  ['name'],
);
const notification = object({ level, message, locations: list(location) }, ['message']);
const invocation = object(
  { executionSuccessful: { type: 'boolean' }, toolExecutionNotifications: list(notification) },
  ['executionSuccessful'],
);
const result = object({ ruleId: text, level, message, locations: list(location, 1) }, ['message']);
const run = object({ tool: object({ driver }, ['driver']), invocations: list(invocation), results: list(result) }, [
  'tool',
  'results',
]);
const schema = object({ $schema: uri, version: { const: '2.1.0' }, runs: list(run, 1) }, ['version', 'runs']);

const validate = new Ajv2020({ allErrors: true, strict: true }).compile(schema);

/** The problems of a document, one per line. The rule of each result must be one of the driver's. */
export function sarifFaults(document: unknown): string[] {
  if (!validate(document))
    return (validate.errors ?? []).map(({ instancePath, message: why }) => `${instancePath} ${why}`);
  const [{ tool, results }] = (
    document as { runs: [{ tool: { driver: { rules: { id: string }[] } }; results: { ruleId: string }[] }] }
  ).runs;
  const known = new Set(tool.driver.rules.map(({ id }) => id));
  return results.filter(({ ruleId }) => !known.has(ruleId)).map(({ ruleId }) => `no rule ${ruleId}`);
}
