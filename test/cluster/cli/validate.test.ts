import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { runCommandLine } from '../../../src/cli/run.ts';
import { createRemedierSpec } from '../../rules/sample-rule.ts';
import { tempFolder } from '../../support/temp.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';

let installed: InstalledServer;
beforeAll(async () => {
  installed = await startInstalledServer();
});
afterAll(() => installed?.stop());

async function validate(kubeconfig: string, spec: object): Promise<TestIo & { code: number }> {
  const folder = tempFolder();
  const rule = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'NodeRemedier',
    metadata: { name: 'hung' },
    spec,
  };
  writeFileSync(join(folder, 'rule.yaml'), stringify(rule));
  const io = testIo({ env: { KUBECONFIG: kubeconfig }, cwd: folder });
  const code = await runCommandLine(io, ['validate', 'rule.yaml', '--server']);
  return Object.assign(io, { code });
}

describe('kubenode validate --server', () => {
  it('FST-5 accepts a rule that sync may write and a person may not', async () => {
    const { code, stdout, stderr } = await validate(installed.server.kubeconfig, createRemedierSpec());
    expect([code, stdout]).toEqual([0, '1 object in 1 file read\n']);
    expect(stderr).toContain('acting as kubenode-sync by impersonation');
  });

  it('FST-5 reports once that a person may not act as sync', async () => {
    const viewer = await installed.server.kubeconfigFor({ user: 'ann', groups: [] });
    const { code, stdout, stderr } = await validate(viewer, createRemedierSpec());
    expect([code, stdout]).toEqual([77, '']);
    expect(stderr).toMatch(/error: .*ann.* cannot impersonate/);
  });
});
