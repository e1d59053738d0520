/** Texts of ConfigMaps that a pod mounts as files, by container and path, unless in doubt. A Secret is never read. */
import { posix } from 'node:path';
import { asArray, asObject, asString, asText, isPresent, stringMap, type JsonObject } from '../model/observe/read.ts';

export interface ConfigMapTexts {
  name: string;
  /** Undefined: a manifest without one may be applied to any. */
  namespace?: string;
  /** Key → text. */
  data: Readonly<Record<string, string>>;
}

/** `object`: a ConfigMap of any origin. Its binaryData is no script. */
export function configMapTextsOf(object: unknown): ConfigMapTexts {
  const { metadata, data } = asObject(object);
  const { name, namespace } = asObject(metadata);
  return { name: asText(name), namespace: asString(namespace), data: stringMap(data, () => true) ?? {} };
}

/** Path in the container → text, for one container of a pod's spec. */
export function mountedScripts(
  podSpec: JsonObject,
  container: JsonObject,
  { configMaps, namespace }: { configMaps: readonly ConfigMapTexts[]; namespace?: string },
): ReadonlyMap<string, string> {
  const volumes = new Map(
    asArray(podSpec['volumes'], 256).map((raw) => [asText(asObject(raw)['name']), asObject(raw)]),
  );
  const mounts = asArray(container['volumeMounts'], 256).map((raw) => {
    const mount = asObject(raw);
    return { mount, at: posix.resolve('/', asText(mount['mountPath'])) };
  });
  const dataOf = (name: unknown) => dataNamed(asText(name), namespace, configMaps);
  const texts = new Map<string, string>();
  for (const { mount, at } of mounts) {
    const files = filesOf(volumes.get(asText(mount['name'])) ?? {}, dataOf);
    for (const [file, text] of files) {
      const path = pathIn(mount, at, file);
      // A mount below hides what the volume has there.
      const isHidden = mounts.some((other) => other.at.length > at.length && isBelow(path ?? '', other.at));
      if (path !== undefined && !isHidden) texts.set(path, text);
    }
  }
  return texts;
}

/** Undefined if there is none, or several with different data: folders often hold a copy for each environment. */
function dataNamed(name: string, namespace: string | undefined, configMaps: readonly ConfigMapTexts[]) {
  const [first, ...others] = configMaps.filter(
    (one) =>
      one.name === name &&
      name !== '' &&
      (namespace === undefined || one.namespace === undefined || one.namespace === namespace),
  );
  return others.some(({ data }) => JSON.stringify(data) !== JSON.stringify(first?.data)) ? undefined : first?.data;
}

type Data = ConfigMapTexts['data'] | undefined;

/** The files of a configMap volume by their path in it. With `items` only those keys, each under its own path. */
function filesOf(volume: JsonObject, dataOf: (name: unknown) => Data): [string, string][] {
  const { name, items } = asObject(volume['configMap']);
  const data = dataOf(name) ?? {};
  if (asArray(items).length === 0) return Object.entries(data);
  return asArray(items)
    .map(asObject)
    .flatMap(({ key, path }): [string, string][] => {
      const text = Object.hasOwn(data, asText(key)) ? data[asText(key)] : undefined;
      return text === undefined ? [] : [[posix.normalize(asText(path)), text]];
    });
}

/** With `subPath` the mount is one file of the volume. A subPathExpr depends on variables. */
function pathIn({ subPath, subPathExpr }: JsonObject, at: string, file: string): string | undefined {
  if (isPresent(subPathExpr)) return undefined;
  if (asText(subPath) === '') return posix.join(at, file);
  return posix.normalize(asText(subPath)) === file ? at : undefined;
}

const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
