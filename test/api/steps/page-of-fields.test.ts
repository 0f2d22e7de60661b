/** docs/reference/fields.md, and the inputs of the steps say the same. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { STEPS, stepEntry } from '../../../src/api/steps/steps.ts';

const ROOT = new URL('../../../', import.meta.url);
const PAGE = readFileSync(new URL('docs/reference/fields.md', ROOT), 'utf8');
const [, section = ''] = PAGE.split('\n## Steps of a NodeRemedier\n');
const rows = (section.split('\n## ')[0] ?? '').split('\n').flatMap((line) => {
  const [, field = '', readBy = ''] = line.split('|').map((cell) => cell.trim());
  return field.startsWith('`') ? [{ field: field.replaceAll('`', ''), readBy }] : [];
});

function fieldsOf(step: (typeof STEPS)[number]): readonly string[] {
  return Object.keys(stepEntry(step).input.properties ?? {}).map((field) => `${step}.${field}`);
}

describe('the page of fields, about the steps of rules,', () => {
  it('names who reads each field of each step', () => {
    const fields = new Set(rows.map(({ field }) => field.split(/\[|(?<=\..*)\./)[0]));
    expect(fields).toEqual(new Set(STEPS.flatMap(fieldsOf)));
  });

  it('names files that exist and contain the name of the field', () => {
    const wrong = rows.filter(({ field, readBy }) => {
      const file = new URL(readBy.replaceAll('`', ''), ROOT);
      const word = field.replace(/\[\]$/, '').split('.').at(-1) ?? '';
      return !existsSync(file) || !new RegExp(String.raw`\b${word}\b`).test(readFileSync(file, 'utf8'));
    });
    expect(wrong).toEqual([]);
  });
});
