/** Audit events wherever a text has them. None is searched for others: clients choose what objects contain. Pure. */
import { parseJson } from '../../kube/http/body.ts';
import { asNumber, asObject, asText, type JsonObject } from '../../model/observe/read.ts';

/** Deeper nesting is no export of a log. */
const maxDepth = 12;

/** Undefined if the text holds no JSON, or JSON of which the beginning or the end is missing. */
export function eventsInText(text: string, depth = 0): JsonObject[] | undefined {
  const whole = parseJson(text);
  if (whole !== undefined) return eventsInValue(whole, depth);
  if (/\{\s*""/.test(text)) return eventsInFields(text, depth);
  return eventsAfterPrefix(text, depth);
}

function eventsInValue(value: unknown, depth: number): JsonObject[] {
  if (depth > maxDepth) return [];
  if (typeof value === 'string') return value.includes('{') ? (eventsInText(value, depth + 1) ?? []) : [];
  if (Array.isArray(value)) return value.flatMap((one) => eventsInValue(one, depth + 1));
  if (typeof value !== 'object' || value === null) return [];
  const { apiVersion, kind, auditID, stage, verb, protoPayload } = asObject(value);
  // Some exports leave kind and apiVersion out.
  const isNamed = typeof auditID === 'string' && typeof stage === 'string';
  if (isNamed ? typeof verb === 'string' : asText(apiVersion).startsWith('audit.k8s.io/') && kind !== 'EventList')
    return [asObject(value)];
  if (/AuditLog$/.test(asText(asObject(protoPayload)['@type']))) return [ofGoogleCloud(asObject(value))];
  return Object.values(value).flatMap((one) => eventsInValue(one, depth + 1));
}

/** Fields in quotes, with quotes in them doubled. */
function eventsInFields(record: string, depth: number): JsonObject[] | undefined {
  const fields = [...record.matchAll(/"([^"]*(?:""[^"]*)*)"/g)].map(([, field = '']) => field.replaceAll('""', '"'));
  const found = fields.filter((field) => field.includes('{')).map((field) => eventsInText(field, depth + 1));
  return found.every((events) => events === undefined) ? undefined : found.flatMap((events) => events ?? []);
}

/** JSON after the first fields of a log line. What is before must not look like JSON, as a client may have written it, nor what follows. */
function eventsAfterPrefix(line: string, depth: number): JsonObject[] | undefined {
  const start = /\{\s*"|\[\s*\{/.exec(line)?.index ?? -1;
  if (start < 0 || depth > maxDepth || /"\s*:/.test(line.slice(0, start))) return undefined;
  const end = jsonEnd(line, start);
  const value = parseJson(line.slice(start, end));
  return value === undefined || /\{\s*"/.test(line.slice(end)) ? undefined : eventsInValue(value, depth + 1);
}

/** After the bracket that closes the one at `from`. */
function jsonEnd(text: string, from: number): number {
  let depth = 0;
  for (const { 0: token, index } of text.slice(from).matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]/gs)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth === 0) return from + index + 1;
  }
  return text.length;
}

/** A LogEntry of Google Cloud, which does not say when the request was answered. `methodName` ends with the verb. */
function ofGoogleCloud({ timestamp, protoPayload, operation }: JsonObject): JsonObject {
  const { methodName, resourceName, authenticationInfo, requestMetadata, status, request, response } =
    asObject(protoPayload);
  // core/v1/namespaces/NAMESPACE/RESOURCE/NAME/SUBRESOURCE
  const [group, version, ...path] = asText(resourceName).split('/');
  const [, namespace, resource, name, subresource] = path[0] === 'namespaces' ? path : ['', '', ...path];
  const { callerIp, callerSuppliedUserAgent } = asObject(requestMetadata);
  return {
    auditID: asObject(operation)['id'],
    stage: 'ResponseComplete',
    requestReceivedTimestamp: timestamp,
    verb: asText(methodName).split('.').at(-1),
    user: { username: asObject(authenticationInfo)['principalEmail'] },
    userAgent: callerSuppliedUserAgent,
    sourceIPs: [callerIp],
    requestURI: `/${asText(resourceName)}`,
    objectRef: { apiGroup: group, apiVersion: version, namespace, resource, name, subresource },
    // A code of gRPC, in which 0 is success.
    responseStatus: { code: asNumber(asObject(status)['code']) ? 500 : 200 },
    requestObject: request,
    responseObject: response,
  };
}
