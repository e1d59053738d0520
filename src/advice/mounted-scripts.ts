/** Texts of ConfigMaps that a pod mounts as files, by container and path, unless in doubt. A Secret is never read. */
import { posix } from 'node:path';
import type { CommandLine } from '../model/observe/container.ts';
import { asArray, asObject, asString, asText, isPresent, stringMap, type JsonObject } from '../model/observe/read.ts';
import { lineOfShell } from '../programs/shell-script.ts';

type ConfigMapTexts = ReturnType<typeof configMapTextsOf>;

/** `object`: a ConfigMap of any origin. Its binaryData is no script. */
export function configMapTextsOf(object: unknown) {
  const { metadata, data } = asObject(object);
  const { name, namespace } = asObject(metadata);
  // A manifest without a namespace may be applied to any.
  return { name: asText(name), namespace: asString(namespace), data: stringMap(data, () => true) ?? {} };
}

export function mountedScripts(
  podSpec: JsonObject,
  container: JsonObject,
  { configMaps, namespace }: { configMaps: readonly ConfigMapTexts[]; namespace?: string },
): ReadonlyMap<string, string> {
  const volumes = new Map(asArray(podSpec['volumes'], 256).map((one) => [asText(asObject(one)['name']), one]));
  const mounts = asArray(container['volumeMounts'], 256)
    .map(asObject)
    .map((mount) => ({ mount, at: posix.resolve('/', asText(mount['mountPath'])) }));
  const texts = new Map<string, string>();
  for (const { mount, at } of mounts) {
    const { name, items } = asObject(asObject(volumes.get(asText(mount['name'])))['configMap']);
    // A subPathExpr depends on the variables of the container.
    if (isPresent(mount['subPathExpr'])) continue;
    const only = asText(mount['subPath']);
    const data = dataNamed(asText(name), namespace, configMaps) ?? {};
    // Items give files other paths. A key that the ConfigMap lacks is no file.
    const chosen = asArray(items, 256).map(asObject);
    const paths = chosen.map(({ key, path }) => [asText(path), data[asText(key)]] as const);
    for (const [file, text] of isPresent(items) ? paths : Object.entries(data)) {
      if (text === undefined) continue;
      const path = only === '' ? posix.join(at, file) : at;
      // A mount below hides what the volume has there.
      const isHidden = mounts.some((other) => other.at.length > at.length && other.at === path);
      if (!isHidden && ['', file].includes(only)) texts.set(path, text);
    }
  }
  return texts;
}

/** Undefined if there is none, or several with different data: folders often hold a copy for each environment. */
function dataNamed(name: string, namespace: string | undefined, configMaps: readonly ConfigMapTexts[]) {
  const isMeant = ({ namespace: own }: ConfigMapTexts): boolean => [undefined, namespace ?? own].includes(own);
  const [first, ...others] = configMaps.filter((one) => one.name === name && name !== '' && isMeant(one));
  return others.some(({ data }) => JSON.stringify(data) !== JSON.stringify(first?.data)) ? undefined : first?.data;
}

/** What a shell runs: its line, or the text of a script of the input. */
export function lineIn(words: readonly string[], { scripts }: Pick<CommandLine, 'scripts'>): string | undefined {
  const line = lineOfShell(words);
  const [first = '', second = ''] = line === undefined ? words : /^[\w./ -]+$/.test(line) ? line.trim().split(' ') : [];
  return scripts?.get(first) ?? (/sh$/.test(first) ? scripts?.get(second) : undefined) ?? line;
}
