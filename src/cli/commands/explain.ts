/** `kubenode explain`: what is in a kind, from the same CRDs that the API server enforces. No server is asked. */
import { readdirSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { parse } from 'yaml';
import { CliError, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';
import { type Format, outputOption, print } from '../output.ts';

/** The part of an OpenAPI schema that people ask about. */
interface Schema {
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
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message?: string }[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
}

interface Crd {
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
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

export interface FieldRow {
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly limits: string;
  readonly description: string;
}

const HELP = `
Examples:
  kubenode explain                          the kinds
  kubenode explain pipeline                 what a Pipeline holds
  kubenode explain knp.spec.stages -r       all below one field`;

export function explainCommand(io: Io): Command {
  return new Command('explain')
    .description('say what is in a kind: its fields, limits, defaults and rules')
    .argument('[kind]', 'kind, plural or short name, with a path: machine.spec.infra')
    .option('-r, --recursive', 'all fields below, not only the next ones')
    .addOption(outputOption())
    .addHelpText('after', HELP)
    .action((kind: string | undefined, flags: { recursive?: true; output: Format }) => {
      if (kind === undefined) listKinds(io, flags.output);
      else explain(io, kind, flags);
    });
}

function listKinds(io: Io, format: Format): void {
  const kinds = readCrds().map((crd) => ({
    kind: crd.spec.names.kind,
    shortName: crd.spec.names.shortNames?.[0] ?? '',
    description: firstSentence(schemaOf(crd).description ?? ''),
  }));
  print(io, format, kinds, () => ({
    columns: ['kind', 'short name', 'what it is'],
    rows: kinds.map(({ kind, shortName, description }) => [kind, shortName, description]),
  }));
}

function explain(
  io: Io,
  argument: string,
  { recursive, output }: { recursive?: true; output: Format },
): void {
  const [name = '', ...path] = argument.split('.');
  const crd = findCrd(name);
  const at = walk(schemaOf(crd), path, crd.spec.names.kind);
  const fields = rowsOf(at, path.join('.'), recursive === true);
  const rules = (at['x-kubernetes-validations'] ?? []).map(({ message, rule }) => message ?? rule);
  const data = {
    kind: crd.spec.names.kind,
    apiVersion: crd.spec.versions.map((version) => `${crd.spec.group}/${version.name}`).join(', '),
    path: path.join('.'),
    type: typeOf(at),
    description: at.description ?? '',
    rules,
    fields,
  };
  if (output !== 'table') {
    print(io, output, data, () => ({ columns: [], rows: [] }));
    return;
  }
  io.out(asText(data));
}

interface Explanation {
  readonly kind: string;
  readonly apiVersion: string;
  readonly path: string;
  readonly type: string;
  readonly description: string;
  readonly rules: readonly string[];
  readonly fields: readonly FieldRow[];
}

function asText({ kind, apiVersion, path, type, description, rules, fields }: Explanation): string {
  const head = [`KIND:     ${kind} (${apiVersion})`, ...(path ? [`FIELD:    ${path} <${type}>`] : [])];
  const text = [...head, '', `  ${description}`, ''];
  if (rules.length > 0) text.push('RULES:', ...rules.map((rule) => `  - ${rule}`), '');
  if (fields.length > 0) {
    text.push('FIELDS:');
    for (const field of fields) {
      const marks = [field.required ? 'required' : '', field.limits].filter(Boolean).join(', ');
      text.push(`  ${field.path} <${field.type}>${marks ? `  ${marks}` : ''}`, `      ${field.description}`);
    }
  }
  return `${text.join('\n').trimEnd()}\n`;
}

/** Our kinds have one version. */
function schemaOf({ spec }: Crd): Schema {
  return spec.versions[0]?.schema.openAPIV3Schema ?? {};
}

function walk(root: Schema, path: readonly string[], kind: string): Schema {
  let at = root;
  for (const [index, step] of path.entries()) {
    const next = childrenOf(at)[step];
    if (!next) {
      throw new CliError(`${kind} has no field ${path.slice(0, index + 1).join('.')}`, {
        hint: `the fields there are: ${Object.keys(childrenOf(at)).join(', ') || 'none'}`,
        exitCode: EXIT.usage,
      });
    }
    at = next;
  }
  return at;
}

/** The fields inside an object, inside the items of a list, or inside the values of a map. */
function childrenOf(schema: Schema): Readonly<Record<string, Schema>> {
  return inner(schema).properties ?? {};
}

function inner(schema: Schema): Schema {
  if (schema.items) return inner(schema.items);
  if (typeof schema.additionalProperties === 'object') return inner(schema.additionalProperties);
  return schema;
}

function rowsOf(schema: Schema, prefix: string, recursive: boolean): FieldRow[] {
  const required = new Set(inner(schema).required);
  return Object.entries(childrenOf(schema)).flatMap(([name, child]) => {
    const path = prefix ? `${prefix}.${name}` : name;
    const description = firstSentence(child.description ?? '');
    const row = {
      path,
      type: typeOf(child),
      required: required.has(name),
      limits: limitsOf(child),
      description,
    };
    return [row, ...(recursive ? rowsOf(child, path, true) : [])];
  });
}

function typeOf(schema: Schema): string {
  if (schema['x-kubernetes-int-or-string']) return 'integer or string';
  if (schema.items) return `list of ${typeOf(schema.items)}`;
  if (typeof schema.additionalProperties === 'object') return `map of ${typeOf(schema.additionalProperties)}`;
  if (schema.format === 'date-time') return 'time';
  return schema.type ?? 'any';
}

function limitsOf(schema: Schema): string {
  const choice = schema.enum ? [schema.enum.join('|')] : [];
  return [
    ...choice,
    ...limit('default ', schema.default),
    ...limit('>= ', schema.minimum),
    ...limit('<= ', schema.maximum),
    ...limit('at least ', schema.minItems),
    ...limit('at most ', schema.maxItems ?? schema.maxProperties),
    ...limit('length <= ', schema.maxLength),
    ...(schema.pattern ? [`pattern ${schema.pattern}`] : []),
  ].join(', ');
}

function limit(text: string, value: unknown): string[] {
  return value === undefined ? [] : [`${text}${JSON.stringify(value)}`];
}

function firstSentence(text: string): string {
  return /^.*?[.](?= |$)/s.exec(text)?.[0] ?? text;
}

function findCrd(name: string): Crd {
  const crds = readCrds();
  const wanted = name.toLowerCase();
  const found = crds.find(({ spec: { names } }) =>
    [names.kind, names.plural, names.singular ?? '', ...(names.shortNames ?? [])].some(
      (word) => word.toLowerCase() === wanted,
    ),
  );
  if (found) return found;
  throw new CliError(`kubenode has no kind ${name}`, {
    hint: `the kinds are: ${crds.map(({ spec }) => spec.names.kind).join(', ')}`,
    exitCode: EXIT.usage,
  });
}

function readCrds(): Crd[] {
  const folder = new URL('../../../crds/', import.meta.url);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((file) => parse(readFileSync(new URL(file, folder), 'utf8')) as Crd);
}
