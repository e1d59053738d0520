import { parseFieldSelector, parseLabelSelector, SelectorError, type Selector } from '../data/selectors.ts';
import type { Kind } from '../data/kinds.ts';
import { badRequest } from '../data/status.ts';
import type { ApiRequest } from '../http/api-request.ts';

/** Which objects a list or watch is about: namespace, name, field and label selectors. Throws a 400. */
export function selectorOf(request: ApiRequest, kind: Kind): Selector {
  const { namespace, name, query } = request;
  const fields = read(() => parseFieldSelector(query.get('fieldSelector') ?? '', kind));
  const labels = read(() => parseLabelSelector(query.get('labelSelector') ?? ''));
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    (name === undefined || object.metadata.name === name) &&
    fields(object) &&
    labels(object);
}

/** The revision asked for; undefined where none, or an empty one, was given. Throws a 400 for what is no number. */
export function revisionIn(request: ApiRequest): number | undefined {
  const text = request.query.get('resourceVersion') ?? '';
  if (text === '') return undefined;
  if (!/^\d+$/.test(text))
    throw badRequest(`invalid resource version "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`);
  return Number(text);
}

function read(parse: () => Selector): Selector {
  try {
    return parse();
  } catch (error) {
    throw error instanceof SelectorError ? badRequest(error.message) : error;
  }
}
