/** The CustomResourceDefinitions of kubenode, as `npm run generate` wrote them. */
import { readFileSync } from 'node:fs';
import type { KubeObject } from '../../kube/objects/object.ts';

/** New objects each time: a caller may change them. */
export function crds(): readonly KubeObject[] {
  return JSON.parse(readFileSync(new URL('../generated/crds.json', import.meta.url), 'utf8')) as KubeObject[];
}
