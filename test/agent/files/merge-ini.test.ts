import { describe, expect, it } from 'vitest';
import { mergeIni, unmergeIni } from '../../../src/agent/files/merge-ini.ts';

const OURS = '[Service]\nLimitNOFILE=1048576\n';

describe('keys in an INI file of others', () => {
  it.each([
    ['an empty file', '', '[Service]\nLimitNOFILE=1048576\n'],
    ['another section', '[Unit]\nA=1\n', '[Unit]\nA=1\n[Service]\nLimitNOFILE=1048576\n'],
    [
      'the end of the section',
      '# note\n[Service]\nUser=joe\n\n[Install]\nB=2\n',
      '# note\n[Service]\nUser=joe\nLimitNOFILE=1048576\n\n[Install]\nB=2\n',
    ],
    [
      'another value, in its place',
      '[Service]\nLimitNOFILE=1\nUser=joe\n',
      '[Service]\nLimitNOFILE=1048576\nUser=joe\n',
    ],
    [
      'the same value with spaces',
      '[Service]\nLimitNOFILE = 1048576\n',
      '[Service]\nLimitNOFILE = 1048576\n',
    ],
  ])('merges into %s', (_name, found, merged) => {
    expect(mergeIni(OURS, found)).toBe(merged);
    expect(mergeIni(OURS, merged)).toBe(merged);
  });

  it('replaces all lines of a key that occurs several times', () => {
    expect(mergeIni('[S]\nExec=\nExec=new\n', '[S]\nExec=old\nA=1\nExec=older\n')).toBe(
      '[S]\nExec=\nExec=new\nA=1\n',
    );
  });

  it('keeps a value of several lines together', () => {
    const ours = '[Service]\nExecStart=/bin/run \\\n  --verbose \\\n  --a=1\n';
    const theirs = '[Service]\nExecStart=/bin/old \\\n  --a=2\nUser=joe\n';
    const merged = mergeIni(ours, theirs);
    expect(merged).toBe(`${ours}User=joe\n`);
    expect(mergeIni(ours, merged)).toBe(merged);
    expect(unmergeIni(ours, merged, theirs)).toBe(theirs);
  });

  it('puts keys without a section first', () => {
    expect(mergeIni('vm.swappiness=0\n', '# by hand\n[x]\na=1\n')).toBe(
      '# by hand\nvm.swappiness=0\n[x]\na=1\n',
    );
    expect(mergeIni('vm.swappiness=0\n', '[x]\na=1\n')).toBe('vm.swappiness=0\n[x]\na=1\n');
  });

  it('restores values and removes keys, and keeps what others changed since', () => {
    expect(unmergeIni('[S]\na=1\nb=2\n', '[S]\na=1\nb=2\nc=3\n', '[S]\na=0\n')).toBe('[S]\na=0\nc=3\n');
  });

  it('leaves nothing behind in a file that was empty', () => {
    expect(unmergeIni(OURS, mergeIni(OURS, ''), '')).toBe('');
  });
});
