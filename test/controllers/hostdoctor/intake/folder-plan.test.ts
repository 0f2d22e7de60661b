import { describe, expect, it } from 'vitest';
import {
  type EventFile,
  type KnownFile,
  planScan,
} from '../../../../src/controllers/hostdoctor/intake/folder-plan.ts';

const file = (name: string, stamp = '1'): EventFile => ({ name, stamp });
const known = (...files: [string, KnownFile][]): ReadonlyMap<string, KnownFile> => new Map(files);
const NEW: KnownFile = { stamp: '1', state: 'New' };

/** The names of the files that are read at 1,000 ms. */
function read(files: readonly EventFile[], before: ReadonlyMap<string, KnownFile>): readonly string[] {
  return planScan(files, before, 1000).read.map(({ name }) => name);
}

describe('planScan', () => {
  it.each<[what: string, files: EventFile[], before: ReadonlyMap<string, KnownFile>, expected: string[]]>([
    ['no file that was not there before: it may be incomplete', [file('a.json')], known(), []],
    ['a file that stayed the same', [file('a.json')], known(['a.json', NEW]), ['a.json']],
    ['no file that is being written', [file('a.json', '2')], known(['a.json', NEW]), []],
    ['no file that is done', [file('a.json')], known(['a.json', { stamp: '1', state: 'Done' }]), []],
    [
      'a file that was replaced',
      [file('a.json', '2')],
      known(['a.json', { stamp: '2', state: 'New' }]),
      ['a.json'],
    ],
    [
      'a waiting file when its time has come',
      [file('a.json')],
      known(['a.json', { stamp: '1', state: 'Waiting', retryAtMs: 1000 }]),
      ['a.json'],
    ],
    [
      'no waiting file before',
      [file('a.json')],
      known(['a.json', { stamp: '1', state: 'Waiting', retryAtMs: 1001 }]),
      [],
    ],
    [
      'only files of events',
      [file('.a.json'), file('a.json.rejected'), file('a.tmp'), file('notes.txt')],
      known(['.a.json', NEW], ['a.json.rejected', NEW], ['a.tmp', NEW], ['notes.txt', NEW]),
      [],
    ],
  ])('reads %s', (_, files, before, expected) => {
    expect(read(files, before)).toEqual(expected);
  });

  it('reads a file that changed after it was done', () => {
    const { known: next } = planScan(
      [file('a.json', '2')],
      known(['a.json', { stamp: '1', state: 'Done' }]),
      0,
    );
    expect(next.get('a.json')).toEqual({ stamp: '2', state: 'New' });
    expect(read([file('a.json', '2')], next)).toEqual(['a.json']);
  });

  it('forgets a file that was removed', () => {
    expect([...planScan([], known(['a.json', NEW]), 0).known]).toEqual([]);
  });

  it('reads fifty files in a scan, new ones before those that wait, in the order of their names', () => {
    const names = Array.from({ length: 60 }, (_, index) => `${String(index).padStart(2, '0')}.json`);
    const waiting: KnownFile = { stamp: '1', state: 'Waiting', retryAtMs: 0 };
    const before = known(
      ...names.map((name, index): [string, KnownFile] => [name, index < 40 ? waiting : NEW]),
    );
    const files = names.map((name) => file(name)).toReversed();
    expect(read(files, before)).toEqual([...names.slice(40), ...names.slice(0, 30)]);
  });

  it('counts what is beyond a thousand files', () => {
    const files = Array.from({ length: 1003 }, (_, index) => file(`${index}.json`));
    const plan = planScan(files, known(), 0);
    expect([plan.ignored, plan.known.size]).toEqual([3, 1000]);
  });
});
