import { describe, expect, it } from 'vitest';
import { mergeBytes, mergeFile, unmergeBytes, unmergeFile } from '../../../src/agent/files/merge.ts';

describe('the content of a file of a component', () => {
  it.each([
    ['Replace', 'a=1\n', 'a=1\n', 'b=2\n'],
    ['Block', 'a=1\n', 'b=2\n# BEGIN kubenode\na=1\n# END kubenode\n', 'b=2\n'],
    ['Json', '{"a":1}', '{\n  "b": 2,\n  "a": 1\n}\n', '{"b":2}'],
    ['Ini', 'a=1\n', 'b=2\na=1\n', 'b=2\n'],
  ] as const)('is merged by %s, and restored', (merge, content, merged, original) => {
    expect(mergeFile({ merge, content }, original)).toBe(merged);
    expect(unmergeFile({ merge, content }, merged, original)).toBe(original);
  });

  it.each([
    ['Json', '{"a":1}', '\uFEFF{"b":2}', '\uFEFF{\n  "b": 2,\n  "a": 1\n}\n'],
    ['Ini', '[S]\na=1\n', '\uFEFF[S]\nb=2\n', '\uFEFF[S]\nb=2\na=1\n'],
  ] as const)(
    'AGT-30 keeps the keys of others behind the mark of an editor in %s',
    (merge, content, found, merged) => {
      expect(mergeFile({ merge, content }, found)).toBe(merged);
      expect(unmergeFile({ merge, content }, merged, found)).toBe(found);
    },
  );

  it('AGT-30 finds such a mark in a file that is its own', () => {
    expect(mergeFile({ merge: 'Replace', content: 'a' }, '\uFEFFa')).toBe('a');
  });

  it('AGT-30 keeps what others wrote in another encoding, byte by byte', () => {
    const ours = { merge: 'Ini', content: 'name=Zürich\n' } as const;
    const original = Buffer.from('# caf\xe9\nb=2\n', 'latin1');
    const merged = mergeBytes(ours, original);
    expect(Buffer.from(merged)).toEqual(Buffer.concat([original, Buffer.from('name=Zürich\n')]));
    expect(Buffer.from(unmergeBytes(ours, merged, original))).toEqual(original);
  });
});
