/** `src/constructs/generated/`: a cdk8s construct with typed props for each kind. */
import type { Kind } from '../kinds/kind.ts';
import { type GeneratedFile, HEADER } from './file.ts';
import { interfaces } from './interfaces.ts';
import { jsonSchemaOf } from './json-schema.ts';

const FOLDER = 'src/constructs/generated';

export function constructFiles(kinds: readonly Kind[], apiVersion: string): readonly GeneratedFile[] {
  return [typesFile(kinds), ...kinds.map((kind) => constructFile(kind, apiVersion))];
}

/** Types for authors: fields with a default are optional. */
function typesFile(kinds: readonly Kind[]): GeneratedFile {
  const types = interfaces('written');
  for (const { spec } of kinds) types.typeOf(jsonSchemaOf(spec));
  const texts = [...types.texts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
  return { path: `${FOLDER}/types.ts`, text: [HEADER, ...texts].join('\n') };
}

function constructFile({ kind, description }: Kind, apiVersion: string): GeneratedFile {
  const text = `${HEADER}
import type { Construct } from 'constructs';
import { CheckedObject, type ObjectMetadata } from '../checked-object.ts';
import type { ${kind}Spec } from './types.ts';

export interface ${kind}Props {
  /** \`name\` is the name in the cluster. It does not depend on the path of the construct. */
  readonly metadata: ObjectMetadata;
  readonly spec: ${kind}Spec;
}

/** ${description} */
export class ${kind} extends CheckedObject {
  static readonly GVK = { apiVersion: '${apiVersion}', kind: '${kind}' } as const;

  constructor(scope: Construct, id: string, props: ${kind}Props) {
    super(scope, id, { ...${kind}.GVK, ...props });
  }
}
`;
  return { path: `${FOLDER}/${kind.toLowerCase()}.ts`, text };
}
