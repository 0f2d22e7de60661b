/** Decides which objects belong to `kubenode install`. Git may not declare them: sync itself depends on them. */
import type { KubeObject } from '../../kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { GROUP } from '../names.ts';
import { installation } from './installation.ts';

let installed: ReadonlySet<string> | undefined;

/** Returns why the object belongs to `kubenode install`; undefined when it does not. */
export function installedReason(object: KubeObject): string | undefined {
  const { kind, metadata } = object;
  installed ??= new Set(installation().map((each) => objectKey(objectIdOf(each))));
  // Also one that only another version has.
  const isOurCrd = kind === 'CustomResourceDefinition' && metadata.name.endsWith(`.${GROUP}`);
  if (!isOurCrd && !installed.has(objectKey(objectIdOf(object)))) return undefined;
  return `${kind} ${metadata.name} belongs to \`kubenode install\``;
}
