/** `kubenode explain`: the fields of a kind, from the same CRDs that the API server enforces. Contacts no server. */
import { Command } from 'commander';
import {
  describeFields,
  type FieldRow,
  firstSentence,
  formatLimits,
  typeName,
} from '../checks/crd-fields.ts';
import { findCrd, findSchema, readCrds, schemaOf } from '../checks/crds.ts';
import type { Io } from '../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../output.ts';

const HELP = `
Examples:
  kubenode explain                          all kinds
  kubenode explain pipeline                 the fields of Pipeline
  kubenode explain knp.spec.stages -r       all fields below one field`;

export function createExplainCommand(io: Io): Command {
  return new Command('explain')
    .description('show the fields of a kind: types, limits, defaults and rules')
    .argument('[kind]', 'kind, plural or short name, optionally with a path: machine.spec.infra')
    .option('-r, --recursive', 'include the fields of all levels')
    .addOption(createOutputOption())
    .addHelpText('after', HELP)
    .action((kind: string | undefined, flags: { recursive?: true; output: OutputFormat }) => {
      if (kind === undefined) listKinds(io, flags.output);
      else explain(io, kind, flags);
    });
}

function listKinds(io: Io, format: OutputFormat): void {
  const kinds = readCrds().map((crd) => ({
    kind: crd.spec.names.kind,
    shortName: crd.spec.names.shortNames?.[0] ?? '',
    description: firstSentence(schemaOf(crd).description ?? ''),
  }));
  printResult(io, format, kinds, () => ({
    columns: ['kind', 'short name', 'description'],
    rows: kinds.map(({ kind, shortName, description }) => [kind, shortName, description]),
  }));
}

function explain(
  io: Io,
  argument: string,
  { recursive, output }: { recursive?: true; output: OutputFormat },
): void {
  const [name = '', ...path] = argument.split('.');
  const crd = findCrd(name);
  const schema = findSchema(schemaOf(crd), path, crd.spec.names.kind);
  const fields = describeFields(schema, path.join('.'), recursive === true);
  const rules = (schema['x-kubernetes-validations'] ?? []).map(({ message, rule }) => message ?? rule);
  const data = {
    kind: crd.spec.names.kind,
    apiVersion: crd.spec.versions.map((version) => `${crd.spec.group}/${version.name}`).join(', '),
    path: path.join('.'),
    type: typeName(schema),
    limits: formatLimits(schema),
    description: schema.description ?? '',
    rules,
    fields,
  };
  if (output !== 'table') {
    printResult(io, output, data, () => ({ columns: [], rows: [] }));
    return;
  }
  io.out(formatExplanation(data));
}

interface Explanation {
  readonly kind: string;
  readonly apiVersion: string;
  readonly path: string;
  readonly type: string;
  readonly limits: string;
  readonly description: string;
  readonly rules: readonly string[];
  readonly fields: readonly FieldRow[];
}

function formatExplanation({
  kind,
  apiVersion,
  path,
  type,
  limits,
  description,
  rules,
  fields,
}: Explanation): string {
  const head = [
    `KIND:     ${kind} (${apiVersion})`,
    ...(path ? [`FIELD:    ${path} <${type}>${limits ? `  ${limits}` : ''}`] : []),
  ];
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
