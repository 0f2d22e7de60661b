import { describe, expect, it } from 'vitest';
import { type EntryContent, entryContent, entryDigest } from '../../../src/api/machine/entry-content.ts';

const CONTENT: EntryContent = {
  name: 'proxy',
  componentRef: 'proxy-1.0',
  digest: `sha256:${'a'.repeat(64)}`,
  state: 'Present',
  parameters: { level: 'info' },
};

describe('entryDigest', () => {
  it('is the same with any assignment and grant', () => {
    const grant = { id: 'g-1', fence: 1, entryDigest: CONTENT.digest, notAfter: '2030-01-01T00:00:00Z' };
    const entry = { ...CONTENT, assignment: { set: 's', revision: 'r-1', batch: 1 }, grant };
    expect(entryDigest(entry)).toBe(entryDigest(CONTENT));
    expect(entryContent(entry)).toEqual(CONTENT);
  });

  it.each<[field: string, change: Partial<EntryContent>]>([
    ['name', { name: 'other' }],
    ['componentRef', { componentRef: 'proxy-1.1' }],
    ['digest', { digest: `sha256:${'b'.repeat(64)}` }],
    ['state', { state: 'Absent' }],
    ['parameters', { parameters: { level: 'debug' } }],
  ])('changes with %s', (_field, change) => {
    expect(entryDigest({ ...CONTENT, ...change })).not.toBe(entryDigest(CONTENT));
  });
});
