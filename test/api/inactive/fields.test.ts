/** docs/reference/fields.md, the kinds and the list of inactive fields say the same. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { InactiveField } from '../../../src/api/inactive/field.ts';
import { INACTIVE_FIELDS } from '../../../src/api/inactive/fields.ts';
import { KINDS } from '../../../src/api/kinds/registry.ts';
import { type CrdSchema, findCrd, schemaOf } from '../../../src/cli/checks/crds.ts';

interface Row {
  readonly kind: string;
  readonly path: string;
  readonly readBy: string;
  readonly refused: string;
}

const PAGE = new URL('../../../docs/reference/fields.md', import.meta.url);
const WORDS = ['people', 'reported'];
const rows = readRows(readFileSync(PAGE, 'utf8'));

function readRows(text: string): readonly Row[] {
  return text.split('\n## ').flatMap((section) => {
    const [kind = '', ...lines] = section.split('\n');
    return lines.flatMap((line) => {
      const [, field = '', readBy = '', refused = ''] = line.split('|').map((cell) => cell.trim());
      if (!field.startsWith('`spec')) return [];
      return [{ kind, path: field.replaceAll('`', ''), readBy: readBy.replaceAll('`', ''), refused }];
    });
  });
}

function leavesOf(schema: CrdSchema, path: string): readonly string[] {
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length > 0) return fields.flatMap(([name, field]) => leavesOf(field, `${path}.${name}`));
  return schema.items ? leavesOf(schema.items, `${path}[]`) : [path];
}

/** The row of the field itself, or of the nearest field around it. */
function rowFor(kind: string, leaf: string): Row | undefined {
  const around = rows.filter((row) => row.kind === kind && contains(row.path, leaf));
  return around.toSorted((a, b) => b.path.length - a.path.length)[0];
}

function contains(path: string, leaf: string): boolean {
  return leaf === path || leaf.startsWith(`${path}.`) || leaf.startsWith(`${path}[]`);
}

function refusedText({ accepts }: InactiveField): string {
  if (!accepts) return 'always';
  const values = accepts.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return `but for ${values.map((value) => `\`${value}\``).join(', ')}`;
}

const specs = KINDS.map(({ kind }) => {
  const spec = schemaOf(findCrd(kind)).properties?.['spec'] ?? {};
  return [kind, leavesOf(spec, 'spec')] as const;
});

describe('the page of fields', () => {
  it.each(specs)('names who reads each field of a %s, or that it is refused', (kind, leaves) => {
    const unnamed = leaves.filter((leaf) => {
      const row = rowFor(kind, leaf);
      return !row || (row.readBy === '' && row.refused === '');
    });
    expect(unnamed).toEqual([]);
    expect(leaves.length).toBeGreaterThan(0);
  });

  it.each(specs)('has no row about a field that a %s does not have, and none twice', (kind, leaves) => {
    const paths = rows.filter((row) => row.kind === kind).map(({ path }) => path);
    expect(paths.filter((path) => !leaves.some((leaf) => contains(path, leaf)))).toEqual([]);
    expect(new Set(paths).size).toBe(paths.length);
  });

  it('refuses exactly what the list of inactive fields refuses', () => {
    // A field that each driver refuses in its own way has one row of the page, with both.
    const listed = Object.entries(INACTIVE_FIELDS).flatMap(([kind, fields]) =>
      [...Map.groupBy(fields, ({ path }) => path)].map(
        ([path, same]) => `${kind} ${path}: ${same.map(refusedText).join('; ')}`,
      ),
    );
    const shown = rows
      .filter(({ refused }) => refused !== '')
      .map(({ kind, path, refused }) => `${kind} ${path}: ${refused}`);
    expect(shown.toSorted()).toEqual(listed.toSorted());
  });

  it('refuses no field everywhere: each one acts in some context', () => {
    const contexts = ['when', 'whenNot', 'whenNotAt', 'whenSet', 'unless'];
    const everywhere = Object.entries(INACTIVE_FIELDS).flatMap(([kind, fields]) =>
      fields
        .filter((field) => !contexts.some((context) => Object.hasOwn(field, context)))
        .map(({ path }) => `${kind} ${path}`),
    );
    expect(everywhere).toEqual([]);
  });

  it('names files that exist and contain the name of the field', () => {
    const wrong = rows.filter(({ path, readBy }) => {
      if (readBy === '' || WORDS.includes(readBy)) return false;
      const file = new URL(`../../../${readBy}`, import.meta.url);
      const word = path.replace(/\[\]$/, '').split('.').at(-1) ?? '';
      return !existsSync(file) || !new RegExp(String.raw`\b${word}\b`).test(readFileSync(file, 'utf8'));
    });
    expect(wrong.map(({ kind, path, readBy }) => `${kind} ${path}: ${readBy}`)).toEqual([]);
  });
});
