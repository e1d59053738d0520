/** The fix that a report holds (`-o json` of a trace), as a patch file: the run has measured what it proposes. */
import { PodexitError } from '../../errors.ts';
import { asArray, asObject, asString } from '../../model/observe/read.ts';
import { forYaml } from '../../render/safe-text.ts';
import { readReports } from '../history/reports.ts';

/** Throws `report.unreadable`, and `fix.report` for a report that cannot say it in that form. */
export async function reportedFixes(file: string, format: string): Promise<string> {
  const { Document } = await import('yaml');
  const reports = await readReports([file]);
  const fixes = reports.flatMap(({ document }) => asArray(asObject(document)['fix']).map(asObject));
  if (fixes.length === 0)
    throw new PodexitError(
      'fix.report',
      `${file} holds no fix: nothing had to be mended, or nothing could be patched`,
      'Read the workload itself: kubectl podexit fix deployment/NAME',
    );
  if (format === 'json-patch' || format === 'yaml')
    throw new PodexitError(
      'fix.report',
      `a report does not hold the object, which -o ${format} needs`,
      'Use -o strategic or -o kustomize, or name the workload.',
    );
  const patches = fixes.map((one) => {
    const target = asObject(one['target']);
    const [kind, name] = [asString(target['kind']) ?? '', asString(target['name']) ?? ''];
    const document = new Document(one['patch']);
    document.commentBefore = ` ${asString(one['reason']) ?? ''}\n ${asString(one['command']) ?? ''}`;
    return { target: { kind, name }, text: document.toString({ lineWidth: 0 }) };
  });
  if (format !== 'kustomize') return forYaml(patches.map(({ text }) => text).join('---\n'));
  const component = {
    apiVersion: 'kustomize.config.k8s.io/v1alpha1',
    kind: 'Component',
    patches: patches.map(({ target, text }) => ({ target, patch: text })),
  };
  return forYaml(new Document(component).toString({ lineWidth: 0 }));
}
