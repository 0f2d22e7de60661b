/** Checks what an agent will need of a MachineComponent: content without conflicts, and the digest that names it in a Machine. */
import type { MachineComponentSpec } from '../../api/generated/types.ts';
import { componentProblems } from '../../api/machine/component-problems.ts';
import { GROUP } from '../../api/names.ts';
import { withoutNulls } from '../../api/validation/nulls.ts';
import { type Problem, validate } from '../../api/validation/validate.ts';
import { digestOf } from '../../kube/objects/digest.ts';
import { isRecord, ownValue } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { type CrdSchema, findCrd, schemaOf } from './crds.ts';

export interface CheckedComponent {
  readonly problems: readonly Problem[];
  /** The digest by which `Machine.spec.components[].digest` names this content. */
  readonly digest: string;
}

/** Checks an object. Returns undefined for objects of other kinds, and for what the schema refuses. */
export type CheckComponent = (object: KubeObject) => CheckedComponent | undefined;

export function createComponentCheck(): CheckComponent {
  let schema: CrdSchema | undefined;
  return (object) => {
    if (object.kind !== 'MachineComponent' || !object.apiVersion.startsWith(`${GROUP}/`)) return undefined;
    if (validate(object).length > 0) return undefined;
    schema ??= schemaOf(findCrd('MachineComponent')).properties?.['spec'] ?? {};
    // What the schema accepts has this type once it has its defaults.
    const spec = withSchemaDefaults(schema, withoutNulls(object['spec'])) as MachineComponentSpec;
    return { problems: componentProblems(spec), digest: digestOf(spec) };
  };
}

/** Returns the value as the API server stores it, with defaults: the digest is computed from that. */
export function withSchemaDefaults(schema: CrdSchema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => withSchemaDefaults(schema.items ?? {}, each));
  if (!isRecord(value)) return value;
  const present = Object.entries(value).map(
    ([name, each]) => [name, withSchemaDefaults(schemaOfField(schema, name), each)] as const,
  );
  const missing = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    field.default === undefined || Object.hasOwn(value, name)
      ? []
      : [[name, withSchemaDefaults(field, field.default)] as const],
  );
  return Object.fromEntries([...present, ...missing]);
}

function schemaOfField({ properties = {}, additionalProperties }: CrdSchema, name: string): CrdSchema {
  const values = typeof additionalProperties === 'object' ? additionalProperties : {};
  return ownValue(properties, name) ?? values;
}
