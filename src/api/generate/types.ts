/** `src/api/generated/types.ts`: the kinds as the API server returns them. */
import type { Kind } from '../kinds/kind.ts';
import { type GeneratedFile, HEADER } from './file.ts';
import { interfaces } from './interfaces.ts';
import { jsonSchemaOf } from './json-schema.ts';

export function typesFile(kinds: readonly Kind[], apiVersion: string): GeneratedFile {
  const types = interfaces('stored');
  const roots = kinds.map((kind) => rootOf(kind, apiVersion));
  for (const { spec, status } of kinds) for (const part of [spec, status]) types.typeOf(jsonSchemaOf(part));
  const text = [
    HEADER,
    "import type { KubeObject } from '../../kube/objects/object.ts';\n",
    ...roots,
    ...[...types.texts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, type]) => type),
  ].join('\n');
  return { path: 'src/api/generated/types.ts', text };
}

function rootOf({ kind, description }: Kind, apiVersion: string): string {
  return `/** ${description} */
export interface ${kind} extends KubeObject {
  readonly apiVersion: '${apiVersion}';
  readonly kind: '${kind}';
  readonly spec: ${kind}Spec;
  readonly status?: ${kind}Status;
}
`;
}
