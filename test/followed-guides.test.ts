/** README.md and every guide are followed by a test as printed, but for what a table names, with the test that covers it instead. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FOLLOWED } from './e2e/guides/guides.ts';
import { NOT_EXECUTED, type NotExecuted } from './e2e/guides/not-executed.ts';
import { readPage } from './support/page/page.ts';

const GUIDES = ['README.md', ...readdirSync('docs/guides').map((name) => join('docs/guides', name))].filter(
  (path) => path.endsWith('.md'),
);

describe('the guides', () => {
  it('are found', () => {
    expect(GUIDES).toEqual(
      expect.arrayContaining(['README.md', 'docs/guides/demo.md', 'docs/guides/install.md']),
    );
    expect(GUIDES.length).toBeGreaterThan(14);
  });

  it.each(GUIDES)('%s is followed, or the table names all of it', (path) => {
    const isFollowed = FOLLOWED.some((guide) => guide.path === path);
    const titles = readPage(path).sections.map(({ title }) => title);
    const missing = titles.length > 0 ? titles : [undefined];
    expect(isFollowed ? [] : missing.filter((title) => entryOf(path, title) === undefined)).toEqual([]);
  });

  it.each(NOT_EXECUTED)(
    'the table names $section of $path, which exists',
    ({ path, section, statements, coveredBy }) => {
      const { sections } = readPage(path);
      const titles = sections.map(({ title }) => title);
      expect(section === undefined ? titles : titles.filter((title) => title === section)).toEqual(
        section === undefined ? [] : [section],
      );
      const found = sections.find(({ title }) => title === section)?.statements ?? [];
      const absent = (statements ?? []).filter((start) => !found.some((text) => text.startsWith(start)));
      expect(absent).toEqual([]);
      expect(coveredBy.filter((file) => !existsSync(file))).toEqual([]);
      expect(coveredBy).not.toEqual([]);
    },
  );
});

/** Of a page that no test follows, an entry covers a whole section. */
function entryOf(path: string, title: string | undefined): NotExecuted | undefined {
  return NOT_EXECUTED.find(
    (entry) => entry.path === path && entry.section === title && entry.statements === undefined,
  );
}
