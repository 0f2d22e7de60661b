import { describe, expect, it } from 'vitest';
import { createNpm } from '../../../src/demo/template/npm.ts';
import { fakeNpm } from '../../support/fake-npm.ts';
import { tempFolder } from '../../support/temp.ts';

const { signal } = new AbortController();

describe('npm', () => {
  it('passes the settings of the user on, not those of an npm that started kubenode', async () => {
    const env = { PATH: fakeNpm(), npm_command: 'exec', npm_config_registry: 'https://npm.example.com' };
    expect(await createNpm({ env, signal })(tempFolder(), 'env')).toBe('|https://npm.example.com\n');
  });

  it('fails with the reason that npm prints, without its code and its log', async () => {
    const npm = createNpm({ env: { PATH: fakeNpm('npm error code E404\nnpm error 404 Not Found') }, signal });
    await expect(npm(tempFolder(), 'install')).rejects.toThrow('npm install failed: 404 Not Found');
  });

  it('fails with what to do where npm is missing', async () => {
    const npm = createNpm({ env: { PATH: tempFolder('empty') }, signal });
    await expect(npm(tempFolder(), 'pack')).rejects.toMatchObject({
      message: expect.stringContaining('npm is not installed') as string,
      exitCode: 69,
    });
  });
});
