/** `src/api/generated/resources.ts`: for each of our kinds, where the API server serves it and what type its objects have. */
import type { Kind } from '../kinds/kind.ts';
import { type GeneratedFile, HEADER } from './file.ts';

export function resourcesFile(kinds: readonly Kind[], group: string, version: string): GeneratedFile {
  const types = kinds.map(({ kind }) => kind).toSorted();
  const text = [
    HEADER,
    "import type { Resource } from '../../kube/objects/object.ts';",
    `import type {\n${types.map((type) => `  ${type},\n`).join('')}} from './types.ts';\n`,
    ...kinds.map((kind) => constantOf(kind, group, version)),
  ].join('\n');
  return { path: 'src/api/generated/resources.ts', text };
}

function constantOf(kind: Kind, group: string, version: string): string {
  return `export const ${constantName(kind)}: Resource<${kind.kind}> = {
  group: '${group}',
  version: '${version}',
  kind: '${kind.kind}',
  plural: '${kind.plural}',
  namespaced: false,
};
`;
}

/** `DefenderPolicy`, `defenderpolicies` -> `DEFENDER_POLICIES` */
export function constantName({ kind, plural }: Pick<Kind, 'kind' | 'plural'>): string {
  const singular = kind.toLowerCase();
  let shared = 0;
  while (shared < singular.length && singular[shared] === plural[shared]) shared += 1;
  const words = kind.slice(0, shared).replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_');
  return `${words}${plural.slice(shared)}`.toUpperCase();
}
