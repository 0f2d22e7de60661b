/** The CRDs of kubenode and their schemas: the same that `kubenode install` applies. */
import { crds } from '../../api/install/crds.ts';
import { CliError, EXIT } from '../errors.ts';

/** The part of an OpenAPI schema that `kubenode explain` prints. */
export interface CrdSchema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, CrdSchema>>;
  readonly items?: CrdSchema;
  readonly additionalProperties?: CrdSchema | boolean;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message?: string }[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
}

export interface CrdManifest {
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly singular?: string;
      readonly shortNames?: readonly string[];
    };
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: CrdSchema };
    }[];
  };
}

export function findCrd(name: string): CrdManifest {
  const known = readCrds();
  const lowerCaseName = name.toLowerCase();
  const found = known.find(({ spec: { names } }) =>
    [names.kind, names.plural, names.singular ?? '', ...(names.shortNames ?? [])].some(
      (word) => word.toLowerCase() === lowerCaseName,
    ),
  );
  if (found) return found;
  throw new CliError(`kind ${name} not found`, {
    hint: `use one of: ${known.map(({ spec }) => spec.names.kind).join(', ')}`,
    exitCode: EXIT.usage,
  });
}

export function readCrds(): readonly CrdManifest[] {
  return crds() as unknown as readonly CrdManifest[];
}

/** Our kinds have one version. */
export function schemaOf({ spec }: CrdManifest): CrdSchema {
  return spec.versions[0]?.schema.openAPIV3Schema ?? {};
}

/** The schema of the field at that path. */
export function findSchema(root: CrdSchema, path: readonly string[], kind: string): CrdSchema {
  let schema = root;
  for (const [index, step] of path.entries()) {
    const next = childrenOf(schema)[step];
    if (!next) {
      const names = Object.keys(childrenOf(schema));
      const parent = [kind, ...path.slice(0, index)].join('.');
      throw new CliError(`field ${step} not found in ${parent}`, {
        hint: names.length > 0 ? `use one of: ${names.join(', ')}` : `${parent} has no fields`,
        exitCode: EXIT.usage,
      });
    }
    schema = next;
  }
  return schema;
}

/** The fields inside an object, inside the items of a list, or inside the values of a map. */
export function childrenOf(schema: CrdSchema): Readonly<Record<string, CrdSchema>> {
  return innerSchema(schema).properties ?? {};
}

/** The schema of the items or values, for a list or a map. */
export function innerSchema(schema: CrdSchema): CrdSchema {
  if (schema.items) return innerSchema(schema.items);
  if (typeof schema.additionalProperties === 'object') return innerSchema(schema.additionalProperties);
  return schema;
}
