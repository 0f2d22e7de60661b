import { describe, expect, it } from 'vitest';
import { mergeFile, unmergeFile } from '../../../src/agent/files/merge.ts';

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
});
