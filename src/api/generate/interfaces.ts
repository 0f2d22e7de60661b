/** TypeScript interfaces from a schema. */
import type { JsonSchema } from './json-schema.ts';

/**
 * `stored`: objects that the API server returns, in which fields with a default are always present.
 * `written`: objects that people write, in which they are optional.
 */
export type Side = 'stored' | 'written';

export interface Interfaces {
  /** The source of each type by name, in the order in which they were found: users before what they use. */
  readonly texts: ReadonlyMap<string, string>;
  /** The TypeScript type of this schema. Adds its interfaces to `texts`. */
  typeOf(schema: JsonSchema): string;
}

const AMOUNT =
  '/** A number, or a percentage of the set in question. */\nexport type Amount = number | `${number}%`;\n';

export function interfaces(side: Side): Interfaces {
  const texts = new Map<string, string>();
  const open = new Set<string>();
  return { texts, typeOf };

  function typeOf(schema: JsonSchema): string {
    const name = schema['x-kubenode-type'];
    if (name !== undefined) return define(name, schema);
    if (schema.enum) return schema.enum.map((value) => literal(value)).join(' | ');
    if (schema.type === 'array') return `readonly ${inParentheses(typeOf(schema.items ?? {}))}[]`;
    if (schema.type === 'object') return `Readonly<Record<string, ${mapValueOf(schema)}>>`;
    return scalarOf(schema);
  }

  function mapValueOf({ additionalProperties }: JsonSchema): string {
    return additionalProperties ? typeOf(additionalProperties) : 'unknown';
  }

  /** One source for each name. A recursive type is cut at some depth in the CRD, and recursive here. */
  function define(name: string, schema: JsonSchema): string {
    if (open.has(name)) return name;
    const before = texts.get(name);
    if (before === undefined) texts.set(name, '');
    open.add(name);
    const text = schema['x-kubernetes-int-or-string'] ? AMOUNT : interfaceOf(name, schema);
    open.delete(name);
    if (before !== undefined && before !== text) {
      throw new Error(`two types are called ${name}:\n${before}\n${text}`);
    }
    texts.set(name, text);
    return name;
  }

  function interfaceOf(name: string, schema: JsonSchema): string {
    const fields = Object.entries(schema.properties ?? {}).map(([field, part]) => {
      const always = schema.required?.includes(field) || (side === 'stored' && part.default !== undefined);
      return `${comment(docOf(part), '  ')}  readonly ${field}${always ? '' : '?'}: ${typeOf(part)};\n`;
    });
    const doc = comment(schema['x-kubenode-doc'] ?? '', '');
    // An empty interface would accept any object.
    if (fields.length === 0) return `${doc}export type ${name} = Readonly<Record<string, never>>;\n`;
    return `${doc}export interface ${name} {\n${fields.join('')}}\n`;
  }
}

function scalarOf({ type }: JsonSchema): string {
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'string' || type === 'boolean') return type;
  return 'unknown';
}

function literal(value: string | number): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function inParentheses(type: string): string {
  return type.includes(' ') ? `(${type})` : type;
}

function comment(text: string, indent: string): string {
  return text === '' ? '' : `${indent}/** ${text} */\n`;
}

/** The description, followed by bounds and default. */
function docOf(schema: JsonSchema): string {
  const facts = [range(schema), atMost(schema), defaultOf(schema)].filter((fact) => fact !== '');
  return [schema.description ?? '', ...(facts.length > 0 ? [`(${facts.join('; ')})`] : [])].join(' ').trim();
}

function range({ type, minimum, maximum }: JsonSchema): string {
  const usual = maximum === 2_147_483_647 || maximum === Number.MAX_SAFE_INTEGER;
  return type === 'integer' && maximum !== undefined && !usual ? `${minimum} to ${maximum}` : '';
}

function atMost({ type, maxItems, maxProperties }: JsonSchema): string {
  if (type === 'array') return `at most ${maxItems}`;
  return maxProperties === undefined ? '' : `at most ${maxProperties}`;
}

function defaultOf({ default: value }: JsonSchema): string {
  const plain = typeof value !== 'object' || (Array.isArray(value) && value.length > 0);
  return value === undefined || !plain ? '' : `default ${JSON.stringify(value)}`;
}
