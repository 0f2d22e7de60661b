import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readTitles } from '../../../lint/requirements/read.ts';
import { hasPromise, renderRequirements, titlesIn } from '../../../lint/requirements/titles.ts';

describe('titlesIn', () => {
  it.each<[source: string, ...expected: string[]]>([
    ["it('S31 moves commits forward', f);", 'S31 moves commits forward'],
    ["describe('S7, S8 and MAC-14: refuses it', f);", 'S7 refuses it', 'S8 refuses it', 'MAC-14 refuses it'],
    ["it('S31–S39 hold', f);", 'S31 hold', 'S39 hold'],
    ["['S4 never deletes']", 'S4 never deletes'],
    [
      "it('S31 moves forward, and S35 back', f);",
      'S31 moves forward, and S35 back',
      'S35 moves forward, and S35 back',
    ],
    ["it('does what S31 asks', f); // S4 no\nconst S5 = 'A1 x';"],
    ["it('S20 isn\\'t random', f);", "S20 isn't random"],
  ])('finds the requirements in %j', (source, ...expected) => {
    const found = titlesIn('test/a.test.ts', source);
    expect(found.map(({ requirement, promise }) => `${requirement} ${promise}`)).toEqual(expected);
  });
});

it.each([
  ['S34 no starvation', false],
  ['S32 %s', false],
  ['S18 checkAncestry', false],
  ['S34 never replaces a healthy stage', true],
  ['S16 resumes after %i ms alone', true],
])('knows whether %j states a promise', (title, expected) => {
  expect(titlesIn('test/a.test.ts', `'${title}'`).map(hasPromise)).toEqual([expected]);
});

it('renders requirements in the order of their numbers', () => {
  const titles = ["'S31 b'", "'S4 c'", "'S31 a'", "'AGT-2 d'"].flatMap((text) =>
    titlesIn('test/x/y.test.ts', text),
  );
  expect(renderRequirements(titles).split('\n').slice(4)).toEqual([
    '## AGT-2',
    '- d ([x/y](../test/x/y.test.ts))',
    '',
    '## S4',
    '- c ([x/y](../test/x/y.test.ts))',
    '',
    '## S31',
    '- a ([x/y](../test/x/y.test.ts))',
    '- b ([x/y](../test/x/y.test.ts))',
    '',
  ]);
});

describe('the titles of our tests', () => {
  const titles = readTitles();

  it('state after the number of a requirement what it promises', () => {
    expect(
      titles
        .filter((title) => !hasPromise(title))
        .map(({ path, requirement, promise }) => `${path}: ${requirement} ${promise}`),
    ).toEqual([]);
  });

  it('are those in docs/requirements.md (else: npm run requirements)', () => {
    expect(renderRequirements(titles)).toBe(readFileSync('docs/requirements.md', 'utf8'));
  });

  it('prove each promise of docs/concepts/sync-safety.md, and name no other', () => {
    const promised = readFileSync('docs/concepts/sync-safety.md', 'utf8').match(/SAF-\d+/g) ?? [];
    const proved = titles.map(({ requirement }) => requirement).filter((id) => id.startsWith('SAF-'));
    expect(new Set(proved)).toEqual(new Set(promised));
    expect(promised).toHaveLength(20);
  });
});
