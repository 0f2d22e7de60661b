import { describe, expect, it } from 'vitest';
import { entryEdits, isYaml } from '../../../src/cli/commit/edit.ts';

const NEW = { unit: 'web', planDigest: 'sha256:bb', reason: 'moved' };
const TS = "{ unit: 'web', planDigest: 'sha256:bb', reason: 'moved' }";
const JSON_ENTRY = '{"unit":"web","planDigest":"sha256:bb","reason":"moved"}';

function edited(path: string, text: string, entries = [NEW]): string[] {
  return entryEdits([{ path, text }], 'acknowledgements', entries).map((edit) => edit.text);
}

describe('entryEdits', () => {
  it.each([
    [
      'extends a list',
      '  acknowledgements: [\n    OLD,\n  ],\n',
      `  acknowledgements: [\n    ${TS},\n    OLD,\n  ],\n`,
    ],
    [
      'extends a list in one line',
      '  acknowledgements: [OLD],\n',
      `  acknowledgements: [\n    ${TS},\n    OLD],\n`,
    ],
    ['fills an empty list', '  acknowledgements: [],\n', `  acknowledgements: [\n    ${TS},\n  ],\n`],
    [
      'begins a list',
      'x = {\n  stages: [],\n',
      `x = {\n  acknowledgements: [\n    ${TS},\n  ],\n  stages: [],\n`,
    ],
  ])('%s of a program', (_, text, expected) => {
    expect(edited('fleet/pipelines.ts', text)).toEqual([expected]);
  });

  it.each([
    [
      'extends a block list',
      'spec:\n  acknowledgements:\n  - OLD\n',
      `spec:\n  acknowledgements:\n  - ${JSON_ENTRY}\n  - OLD\n`,
    ],
    [
      'fills an empty list',
      'spec:\n  acknowledgements: []\n',
      `spec:\n  acknowledgements: [\n    ${JSON_ENTRY},\n  ]\n`,
    ],
    [
      'begins a list',
      'spec:\n  stages:\n  - name: a\n',
      `spec:\n  acknowledgements:\n    - ${JSON_ENTRY}\n  stages:\n  - name: a\n`,
    ],
  ])('%s of YAML', (_, text, expected) => {
    expect(edited('hub/pipeline.yaml', text)).toEqual([expected]);
  });

  it('offers every place, those with a list first', () => {
    const text = '  stages: [],\n  acknowledgements: [\n  ],\n  stages: [],\n';
    const found = edited('a.ts', text);
    expect(found).toHaveLength(3);
    expect(found[0]).toBe(`  stages: [],\n  acknowledgements: [\n    ${TS},\n  ],\n  stages: [],\n`);
  });

  it('escapes a reason, and adds every entry', () => {
    const [text] = edited('a.ts', 'stages: []', [NEW, { ...NEW, reason: "Ann's \\ list" }]);
    expect(text).toBe(
      `acknowledgements: [\n  ${TS},\n  { unit: 'web', planDigest: 'sha256:bb', reason: "Ann's \\\\ list" },\n],\nstages: []`,
    );
  });

  it('offers nothing for a text without a Pipeline', () => {
    expect(edited('a.ts', 'export const a = 1;\n')).toEqual([]);
    expect(['a.yaml', 'b.yml', 'c.ts'].map(isYaml)).toEqual([true, true, false]);
  });
});
