/** Describes the fields of a schema. Pure. */
import { type CrdSchema, childrenOf, innerSchema } from './crds.ts';

export interface FieldRow {
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly limits: string;
  readonly description: string;
}

export function describeFields(schema: CrdSchema, prefix: string, recursive: boolean): FieldRow[] {
  const required = new Set(innerSchema(schema).required);
  return Object.entries(childrenOf(schema)).flatMap(([name, child]) => {
    const path = prefix ? `${prefix}.${name}` : name;
    const description = firstSentence(child.description ?? '');
    const row = {
      path,
      type: typeName(child),
      required: required.has(name),
      limits: formatLimits(child),
      description,
    };
    return [row, ...(recursive ? describeFields(child, path, true) : [])];
  });
}

export function typeName(schema: CrdSchema): string {
  if (schema['x-kubernetes-int-or-string']) return 'integer or string';
  if (schema.items) return `list of ${typeName(schema.items)}`;
  if (typeof schema.additionalProperties === 'object') {
    return `map of ${typeName(schema.additionalProperties)}`;
  }
  if (schema.format === 'date-time') return 'time';
  return schema.type ?? 'any';
}

export function formatLimits(schema: CrdSchema): string {
  const choice = schema.enum ? [schema.enum.join('|')] : [];
  return [
    ...choice,
    ...formatLimit('default ', schema.default),
    ...formatLimit('>= ', schema.minimum),
    ...formatLimit('<= ', schema.maximum),
    ...formatLimit('at least ', schema.minItems),
    ...formatLimit('at most ', schema.maxItems ?? schema.maxProperties),
    ...formatLimit('length <= ', schema.maxLength),
    ...(schema.pattern ? [`pattern ${schema.pattern}`] : []),
  ].join(', ');
}

function formatLimit(text: string, value: unknown): string[] {
  return value === undefined ? [] : [`${text}${JSON.stringify(value)}`];
}

export function firstSentence(text: string): string {
  return /^.*?[.](?= |$)/s.exec(text)?.[0] ?? text;
}
