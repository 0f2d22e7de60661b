import { describe, expect, it } from 'vitest';
import { findInDocument, findInSource, findTwiceExported } from '../../../lint/words/find.ts';

describe('doc comments', () => {
  it.each([
    ['/** Of the view of Events. */', ['/** Of …']],
    ['/**\n * What is a choice, or ends by itself at once.\n */', ['/** What …']],
    ['/** Reads what the view holds. */', []],
    ['/** Offers, whatever is asked. */', []],
    ['// Of two, the first.', []],
    ["const text = '/** Of a string */';", []],
  ])('have a subject and a verb: %s', (text, found) => {
    expect(foundIn(findInSource({ path: 'src/a.ts', text }))).toEqual(found);
    expect(findInSource({ path: 'test/a.ts', text })).toEqual([]);
  });
});

describe('banned phrases', () => {
  it.each<[sentence: string, ...found: string[]]>([
    ['This cluster is no hub.', 'is no'],
    ['There is no hub, and there are no stages.'],
    ['It is no longer served, and the answer is no.'],
    ['A file of ours', 'of ours'],
    ['Mend the kubeconfig; made anew on purpose?', 'Mend', 'anew'],
    ['Recommended amendments'],
    ['it goes on by itself', 'goes on by itself'],
    ['It ends by itself.'],
    ['The files as they lie there', 'lie'],
    ['Where it stands', 'stands'],
    ['CA stands for certificate authority; a stand-in for go; stand by'],
    ['What git says now', 'says'],
    ['whoever asks; nobody did', 'nobody', 'whoever'],
    ['What is asked there is what happens', 'What is asked there is what'],
    ['An error with a way out', 'way out'],
    ['It wakes the controller', 'wakes'],
    ['Sleepers wake in order when the machine wakes up'],
    ['The object is gone', 'gone'],
    ['410 Gone, or what has gone wrong'],
    ['The cluster is unreachable, or lost.', 'lost'],
    ['lease lost: the term ended, an update would be lost, lost events'],
    ['The wall clock'],
    ['The walls of the sandbox', 'walls'],
    ['Hello, world! The real-world case.'],
    ['A small world', 'world'],
    ['Ends the pass at once, as the next pass must.', 'the pass', 'next pass'],
    ['Let it pass through; passes the gate'],
    ['`nobody` is the user that runs it'],
  ])('%s', (sentence, ...found) => {
    const asComment = findInSource({ path: 'bench/a.ts', text: `/** ${sentence} */\n` });
    expect(foundIn(asComment)).toEqual(found.toSorted(compareTexts));
    expect(foundIn(findInDocument({ path: 'docs/a.md', text: sentence }))).toEqual(foundIn(asComment));
  });

  it('are found over the end of a line, with the line where they begin', () => {
    const text = '/**\n * It\n * is\n * no hub.\n */\n// what goes\n// on by itself\n';
    expect(findInSource({ path: 'src/a.ts', text }).map(({ found, line }) => [found, line])).toEqual([
      ['is no', 3],
      ['goes on by itself', 6],
    ]);
  });

  it('are not looked for in values, only in sentences', () => {
    const text = "f('gone', './world.ts', `is no ${what}`);";
    expect(foundIn(findInSource({ path: 'src/a.ts', text }))).toEqual(['is no']);
  });
});

describe('banned names', () => {
  it.each<[code: string, ...found: string[]]>([
    ['export interface CheckDesk {}', 'CheckDesk'],
    ['const seen = new Set<string>();', 'seen'],
    ['function f(world: Snapshot, past?: Date) {}', 'world'],
    ['interface A { readonly seenBy: string }', 'seenBy'],
    ['const test = { name, expect, given: {} };'],
    ['const { gone } = ledger; const overseen = 1; const bookmark = 2;'],
    ["const a = b ? 'world' : c;"],
    ['function goes() {}', 'goes'],
  ])('%s', (code, ...found) => {
    expect(foundIn(findInSource({ path: 'src/a.ts', text: code }))).toEqual(found);
  });

  it('include those of files and folders', () => {
    expect(foundIn(findInSource({ path: 'test/small-world.ts', text: '' }))).toEqual([
      'file or folder name small-world.ts',
    ]);
  });
});

it('finds names that two files export, but not those that an index passes on', () => {
  const findings = findTwiceExported([
    { path: 'src/a.ts', text: "export type Outcome = 'a';\nexport function isA(): void {}\n" },
    { path: 'src/b.ts', text: 'export interface Outcome {}\nexport interface Other {}\n' },
    { path: 'src/index.ts', text: "export { type Other, isA } from './a.ts';\nexport * from './b.ts';\n" },
    { path: 'src/c.ts', text: 'f(`\nexport type Other = string;\n`);\n' },
  ]);
  expect(findings.map(({ path, line, found }) => `${path}:${line} ${found}`)).toEqual([
    'src/a.ts:1 Outcome',
    'src/b.ts:1 Outcome',
  ]);
});

function foundIn(findings: readonly { readonly found: string }[]): string[] {
  return findings.map(({ found }) => found).toSorted(compareTexts);
}

function compareTexts(a: string, b: string): number {
  return a.toLowerCase() < b.toLowerCase() ? -1 : 1;
}
