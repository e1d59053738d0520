import { parseKubeconfig, type Kubeconfig } from '../../../src/kube/kubeconfig/parse.ts';
import { readYaml } from '../../../src/kube/kubeconfig/yaml.ts';

/** A kubeconfig from its text, as the YAML library reads it. */
export const parsed = (text: string, file: string): Kubeconfig => parseKubeconfig(readYaml(text, file), file);
