import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readTitles } from '../../../lint/promises/read.ts';
import { statesPromise, titlesIn } from '../../../lint/promises/titles.ts';

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
  ])('finds the ids in %j', (source, ...expected) => {
    const found = titlesIn('test/a.test.ts', source);
    expect(found.map(({ id, title }) => `${id} ${title}`)).toEqual(expected);
  });
});

it.each([
  ['S34 no starvation', false],
  ['S32 %s', false],
  ['S18 checkAncestry', false],
  ['S34 never replaces a healthy stage', true],
  ['S16 resumes after %i ms alone', true],
])('knows whether %j states a promise', (title, expected) => {
  expect(titlesIn('test/a.test.ts', `'${title}'`).map(statesPromise)).toEqual([expected]);
});

describe('the titles of our tests', () => {
  const titles = readTitles();

  it('state after an id what it promises', () => {
    expect(
      titles.filter((each) => !statesPromise(each)).map(({ path, id, title }) => `${path}: ${id} ${title}`),
    ).toEqual([]);
  });

  it('prove each promise of docs/concepts/sync-safety.md, and name no other', () => {
    const page = readFileSync('docs/concepts/sync-safety.md', 'utf8');
    const promised = [...page.matchAll(/^- \*\*(?<id>SAF-\d+)\*\*/gm)].map(({ groups }) => groups?.['id']);
    const proved = titles.map(({ id }) => id).filter((id) => id.startsWith('SAF-'));
    expect(new Set(proved)).toEqual(new Set(promised));
    expect(promised).toHaveLength(20);
  });
});
