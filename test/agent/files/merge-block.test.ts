import { describe, expect, it } from 'vitest';
import { mergeBlock, unmergeBlock } from '../../../src/agent/files/merge-block.ts';

const BLOCK = '# BEGIN kubenode\n10.0.0.1 api\n# END kubenode\n';

describe('a block in a file of others', () => {
  it.each([
    ['an empty file', '', BLOCK],
    ['a file of others', '127.0.0.1 localhost\n', `127.0.0.1 localhost\n${BLOCK}`],
    ['a file without a final newline', '127.0.0.1 localhost', `127.0.0.1 localhost\n${BLOCK}`],
    ['an older block', `a\n${BLOCK.replace('api', 'old')}b\n`, `a\n${BLOCK}b\n`],
    ['the same block', `a\n${BLOCK}b\n`, `a\n${BLOCK}b\n`],
  ])('merges into %s', (_name, found, merged) => {
    expect(mergeBlock('10.0.0.1 api\n', found)).toBe(merged);
    expect(mergeBlock('10.0.0.1 api', merged)).toBe(merged);
  });

  it('AGT-30 takes no line of others for its own where a person removed a mark', () => {
    const found = '# BEGIN kubenode\n10.0.0.1 api\n10.0.0.9 theirs\n';
    const merged = mergeBlock('10.0.0.1 api\n', found);
    expect(merged).toBe(`${found}${BLOCK}`);
    expect(mergeBlock('10.0.0.1 api\n', merged)).toBe(merged);
    expect(unmergeBlock(merged)).toBe(found);
  });

  it('finds both marks with the line ends of Windows, and keeps marks out of its content', () => {
    expect(mergeBlock('10.0.0.1 api\n', `a\r\n${BLOCK.replaceAll('\n', '\r\n')}b\r\n`)).toBe(
      `a\r\n${BLOCK}b\r\n`,
    );
    expect(mergeBlock('# END kubenode\n10.0.0.1 api\n', '')).toBe(BLOCK);
  });

  it('is taken out without a trace', () => {
    expect(unmergeBlock(`a\n${BLOCK}b\n`)).toBe('a\nb\n');
    expect(unmergeBlock('a\n')).toBe('a\n');
  });
});
