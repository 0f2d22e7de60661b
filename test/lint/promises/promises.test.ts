import { describe, expect, it } from 'vitest';
import {
  describePromises,
  findProblems,
  promisesIn,
  readPromises,
  unknownIds,
} from '../../../lint/promises/promises.ts';
import { readTitles } from '../../../lint/promises/read.ts';
import { titlesIn } from '../../../lint/promises/titles.ts';

const S4 = '- **S4** Sync deletes only what it owns.';
const AGT_2 = '- **AGT-02** An idle agent sends only heartbeats.';
const titles = ["'S4 asks for the owner before a delete'", "'AGT-02 is quiet when idle'"].flatMap((text) =>
  titlesIn('test/x.test.ts', text),
);

describe('docs/promises.md', () => {
  it('has one sentence for each id in a title of a test, and no other line', () => {
    const promises = readPromises();
    expect(promises.length).toBeGreaterThan(100);
    expect(findProblems(promises, readTitles())).toEqual([]);
  });
});

describe('findProblems', () => {
  it.each<[page: readonly string[], ...problems: string[]]>([
    [[S4, AGT_2]],
    [[AGT_2], 'S4: add a line to docs/promises.md'],
    [[S4, AGT_2, S4], 'S4: keep one of 2 lines'],
    [[S4, AGT_2, '- **F1** A rule with an error is refused.'], 'F1: no test names it, remove its line'],
    [[S4, '- **AGT-02** An idle agent sends only heartbeats'], 'AGT-02: end the sentence with a period'],
    [[S4, '- **AGT-02** Agents are quiet.'], 'AGT-02: use at least 5 words'],
  ])('in %j', (page, ...problems) => {
    expect(findProblems(promisesIn(page.join('\n')), titles)).toEqual(problems);
  });
});

describe('describePromises', () => {
  const promises = promisesIn(`# Title\n\n${S4}\n\n## Agent\n\n${AGT_2}\n`);

  it('lists each promise with its tests, in the order of the page', () => {
    expect(describePromises(promises, titles).split('\n')).toEqual([
      'S4  Sync deletes only what it owns.',
      '  test/x.test.ts: asks for the owner before a delete',
      '',
      'AGT-02  An idle agent sends only heartbeats.',
      '  test/x.test.ts: is quiet when idle',
      '',
    ]);
  });

  it('lists only the ids that are asked for', () => {
    expect(describePromises(promises, titles, ['AGT-02'])).toMatch(/^AGT-02 {2}An idle/);
  });

  it('has no description of an id that no test names', () => {
    expect(unknownIds(['S4', 'S99', 'AGT-2'], titles)).toEqual(['S99', 'AGT-2']);
  });
});
