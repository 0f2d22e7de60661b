import { describe, expect, it, onTestFinished } from 'vitest';
import { shellEnv } from './local-fleet.ts';

describe('shellEnv', () => {
  it('has the folder for temporary files of this test file, not of the one that loaded it first', () => {
    const { TMPDIR } = process.env;
    onTestFinished(() => {
      process.env['TMPDIR'] = TMPDIR;
    });
    process.env['TMPDIR'] = '/folder/of/the/next/file';
    expect(shellEnv()).toMatchObject({ TMPDIR: '/folder/of/the/next/file', KUBENODE_PROGRESS: 'all' });
  });

  it('does not contain the command of the npm that runs the tests', () => {
    expect(Object.keys(shellEnv())).not.toContain('npm_command');
  });
});
