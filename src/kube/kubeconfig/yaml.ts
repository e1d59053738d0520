import { CORE_SCHEMA, boolYaml11Tag, loadAll, mergeTag, type YAMLException } from 'js-yaml';
import { invalid } from './parse.ts';

/**
 * Reads the first document of a kubeconfig as kubectl does: of two equal keys the last one counts. Throws PodexitError
 * `kubeconfig.invalid`, which names the file and the line.
 */
export function readYaml(text: string, file: string): unknown {
  try {
    const [document] = loadAll(text, { schema, maxAliases: 100, json: true });
    return document;
  } catch (error) {
    const { mark } = error as YAMLException;
    throw invalid(file, `it is not valid YAML${mark === undefined ? '' : ` (line ${mark.line + 1})`}`);
  }
}

/** As in YAML 1.1 `yes` and `on` are true, and there are merge keys (`<<`). */
const schema = CORE_SCHEMA.withTags(mergeTag, boolYaml11Tag);
