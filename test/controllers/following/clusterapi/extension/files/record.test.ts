import { describe, expect, it } from 'vitest';
import {
  type BootstrapState,
  changedPaths,
  nextRecord,
  readBootstrapRecord,
} from '../../../../../../src/controllers/following/clusterapi/extension/files/record.ts';

const state = (changes: Partial<BootstrapState> = {}): BootstrapState => ({
  version: 'v1',
  files: { '/a': '1', '/b': '2' },
  isUpdating: false,
  ...changes,
});
const FIRST = nextRecord(undefined, state());

describe('the record of a bootstrap config', () => {
  it('CAP-18 has the version and the files while no update is under way', () => {
    expect(readBootstrapRecord(FIRST)).toEqual({ version: 'v1', files: { '/a': '1', '/b': '2' } });
    expect(nextRecord('anything', state())).toBe(FIRST);
  });

  it('CAP-18 does not know what an update changes until it has ended, also when it is taken back', () => {
    const changed = state({ isUpdating: true, version: 'v2', files: { '/a': '1', '/b': '3', '/c': '4' } });
    const during = nextRecord(FIRST, changed);
    expect(readBootstrapRecord(during)).toEqual({ version: '', files: { '/a': '1', '/b': '', '/c': '' } });
    expect(nextRecord(during, state({ isUpdating: true }))).toBe(during);
    expect(nextRecord(during, { ...changed, isUpdating: false })).toBe(
      nextRecord(undefined, { ...changed, isUpdating: false }),
    );
  });

  it('CAP-18 does not begin during an update: the state before it was not observed', () => {
    expect(nextRecord(undefined, state({ isUpdating: true }))).toBeUndefined();
  });

  it('is left out of a Machine that would be too large', () => {
    const files = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`/${'x'.repeat(500)}${n}`, '1']));
    expect(nextRecord(undefined, state({ files }))).toBeUndefined();
  });

  it.each([undefined, '', 'x', '[]', '{}', '{"version":1,"files":{}}', '{"version":"v1"}'])(
    'is not read from %j',
    (text) => {
      expect(readBootstrapRecord(text)).toBeUndefined();
    },
  );

  it('names paths that are added, changed and removed, and none by the name of an inherited field', () => {
    expect(changedPaths({ files: { '/a': '1', '/b': '2' } }, { '/b': '3', '/c': '1' })).toEqual([
      '/a',
      '/b',
      '/c',
    ]);
    expect(changedPaths({ files: {} }, { constructor: '1' })).toEqual(['constructor']);
  });
});
