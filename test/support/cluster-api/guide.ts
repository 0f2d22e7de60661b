/** The objects of the guide about Cluster API, in the order of the page. */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

const GUIDE = 'docs/guides/cluster-api.md';
const BLOCK = /^```yaml\n(?<text>[\s\S]*?)^```/gm;

export function guideObjects(): readonly KubeObject[] {
  return [...readFileSync(GUIDE, 'utf8').matchAll(BLOCK)].flatMap(({ groups }) =>
    parseAllDocuments(groups?.['text'] ?? '').map((document) => document.toJS() as KubeObject),
  );
}

/** Returns the first object of this kind. */
export function guideObject(kind: string): KubeObject {
  const found = guideObjects().find((each) => each.kind === kind);
  if (!found) throw new Error(`${GUIDE} has no ${kind}`);
  return found;
}
