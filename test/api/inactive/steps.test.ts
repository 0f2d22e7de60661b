/** docs/reference/fields.md, the inputs of the steps and the list of inactive inputs say the same. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { INACTIVE_STEP_INPUTS } from '../../../src/api/inactive/steps.ts';
import { STEPS, stepEntry, stepInputProblems } from '../../../src/api/steps/steps.ts';

const ROOT = new URL('../../../', import.meta.url);
const PAGE = readFileSync(new URL('docs/reference/fields.md', ROOT), 'utf8');
const [, section = ''] = PAGE.split('\n## Steps of a NodeRemedier\n');
const rows = (section.split('\n## ')[0] ?? '').split('\n').flatMap((line) => {
  const [, field = '', readBy = '', refused = ''] = line.split('|').map((cell) => cell.trim());
  return field.startsWith('`') ? [{ field: field.replaceAll('`', ''), readBy, refused }] : [];
});

function fieldsOf(step: (typeof STEPS)[number]): readonly string[] {
  return Object.keys(stepEntry(step).input.properties ?? {}).map((field) => `${step}.${field}`);
}

describe('the page of fields, about the steps of rules,', () => {
  it('names who reads each field of each step, or that it is refused', () => {
    const named = rows.filter(({ readBy, refused }) => readBy !== '' || refused !== '');
    const fields = new Set(named.map(({ field }) => field.split(/\[|(?<=\..*)\./)[0]));
    expect(fields).toEqual(new Set(STEPS.flatMap(fieldsOf)));
  });

  it('refuses exactly what the list of inactive inputs refuses', () => {
    const listed = Object.entries(INACTIVE_STEP_INPUTS).flatMap(([step, fields]) =>
      fields.map(({ path, accepts }) => {
        const values = accepts?.map((value) => `\`${String(value)}\``).join(', ');
        return `${step}.${path}: ${values === undefined ? 'always' : `but for ${values}`}`;
      }),
    );
    const shown = rows
      .filter(({ refused }) => refused !== '')
      .map(({ field, refused }) => `${field}: ${refused}`);
    expect(shown.toSorted()).toEqual(listed.toSorted());
  });

  it('names files that exist and contain the name of the field', () => {
    const wrong = rows.filter(({ field, readBy }) => {
      if (readBy === '') return false;
      const file = new URL(readBy.replaceAll('`', ''), ROOT);
      const word = field.replace(/\[\]$/, '').split('.').at(-1) ?? '';
      return !existsSync(file) || !new RegExp(String.raw`\b${word}\b`).test(readFileSync(file, 'utf8'));
    });
    expect(wrong).toEqual([]);
  });
});

describe('the input of a step', () => {
  it('has its own problems before those of what this version does not act on', () => {
    const problems = stepInputProblems('Drain', { gang: 'WholeJob', deadNode: 'Force' });
    expect(problems.map(({ path }) => path)).toEqual(['deadNode']);
  });
});
