import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { buildBundle } from '../../../scripts/bundle.ts';
import { tempFolder } from '../../support/temp.ts';

describe('the bundle of the stand-in kubelet', () => {
  it('contains only our modules, and starts with Node.js alone', async () => {
    const bundle = await buildBundle('kubelet', tempFolder('bundle'));
    expect(
      bundle.modules.filter(
        (path) => !/^src\/(agent\/log|api\/names|cli|kube|local|os)(\/.+)?\.ts$/.test(path),
      ),
    ).toEqual([]);
    const args = [bundle.file, '--kubeconfig', '/does/not/exist'];
    const ran = spawnSync(process.execPath, args, { env: {}, cwd: '/', encoding: 'utf8' });
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain("ENOENT: no such file or directory, open '/does/not/exist'");
  });
});
