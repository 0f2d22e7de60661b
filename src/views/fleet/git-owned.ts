/** Decides whether git sets a field of an object, by the server's record of who applied it. Pure. */
import { ANNOTATION_COMMIT, ANNOTATION_SOURCE, MANAGER_SYNC } from '../../api/names.ts';
import { valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { shortCommit } from '../text/age.ts';
import { formatYaml } from '../text/yaml.ts';

/** Tells whether git sets the field at `path`, or a field below it: `isSetByGit(set, 'spec', 'rollout', 'approved')`. */
export function isSetByGit({ metadata }: KubeObject, ...path: readonly string[]): boolean {
  const fields = path.map((field) => `f:${field}`);
  return (
    metadata.managedFields?.some(
      ({ manager, operation, fieldsV1 }) =>
        manager === MANAGER_SYNC && operation === 'Apply' && valueAt(fieldsV1, ...fields) !== undefined,
    ) ?? false
  );
}

/** Names the commit that set the content of the object, and the place in the fleet repository. */
export function gitOrigin({ metadata }: KubeObject): string {
  const { [ANNOTATION_COMMIT]: commit, [ANNOTATION_SOURCE]: source } = metadata.annotations ?? {};
  return [commit ? `commit ${shortCommit(commit)}` : 'its commit is not recorded', source]
    .filter(Boolean)
    .join(', ');
}

/** Returns the text about the change that a person commits instead of what this command would write. */
export function commitText(object: KubeObject, change: object): string {
  const { kind, metadata } = object;
  const body = formatYaml(change)
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}\n`)
    .join('');
  return `commit this to ${kind} ${metadata.name} in the fleet repository (${gitOrigin(object)}):\n${body}`;
}
