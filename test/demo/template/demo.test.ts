import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import type { MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { demoFiles } from '../../../src/demo/template/demo.ts';
import { tempFolder } from '../../support/temp.ts';

const PROGRAM = 'export {};\n';

it('puts the stand-in kubelet into the repository, where its artifacts point, once for each version', async () => {
  const bundle = join(tempFolder('bundle'), 'kubelet.mjs');
  writeFileSync(bundle, PROGRAM);
  const files = await demoFiles('/srv/my demo', pathToFileURL(bundle));
  expect(files.get('artifacts/kubelet.mjs')).toBe(PROGRAM);
  const local = JSON.parse(files.get('fleet/local.json') ?? '') as {
    readonly node: string;
    readonly kubelets: readonly MachineComponentSpec[];
  };
  expect(local.node).toBe(process.execPath);
  expect(local.kubelets.map(({ version }) => version)).toEqual(['1.35.0', '1.36.3']);
  const sha256 = createHash('sha256').update(PROGRAM).digest('hex');
  for (const { artifacts } of local.kubelets) {
    expect(artifacts).toMatchObject([{ url: 'file:///srv/my%20demo/artifacts/kubelet.mjs', sha256 }]);
  }
});

it('says how to build the stand-in kubelet when a checkout does not have it', async () => {
  const missing = pathToFileURL(join(tempFolder('bundle'), 'kubelet.mjs'));
  await expect(demoFiles('/srv/demo', missing)).rejects.toMatchObject({
    message: 'the bundle of the stand-in kubelet does not exist',
    hint: 'build it: npm run bundle:kubelet',
  });
});
