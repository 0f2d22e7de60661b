import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli/run.ts';
import { testIo } from '../../support/test-io.ts';
import type { InstalledServer } from '../api/installed-server.ts';
import { declareCluster, reportCluster, startHub } from './hub-fixture.ts';
import { run } from './rollout-fixture.ts';

let installed: InstalledServer;
beforeAll(async () => {
  installed = await startHub();
});
afterAll(() => installed?.stop());

describe('kubenode status CLUSTER', () => {
  it('shows what the units and objects of one cluster wait for, and exits with 1 where a person is needed', async () => {
    const { client } = installed.server;
    const failures = ['a', 'b'].map((name) => ({
      object: `apps/Deployment web/${name}`,
      unit: 'shop',
      reason: 'Invalid',
      message: 'no such field',
    }));
    const held = [{ unit: 'web', planDigest: `sha256:${'1'.repeat(64)}` }];
    const objects = { total: 5, applied: 3, failed: 2 };
    await declareCluster(client, 'tree', {
      stage: 'prod',
      state: 'Held',
      message: 'held',
      objects,
      failures,
      held,
    });
    const { exitCode, stdout, stderr } = await run(installed, 'status', 'tree');
    expect([exitCode, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(/^tree: Held \d+s, stage prod, commit -\n {2}health: Unknown\n {2}held\n/m);
    expect(stdout).toMatch(/├─ web: Held \d+s\n[^]*kubenode release acknowledge tree/);
    expect(stdout).toContain(
      '└─ shop: not as in git\n   └─ apps/Deployment web/a and apps/Deployment web/b: Invalid\n        no such field\n',
    );
    expect(stdout).toMatch(/└─ 3 objects as in git\n$/);
  });

  it('prints the tree as JSON, without asking the cluster itself', async () => {
    const { client } = installed.server;
    await declareCluster(client, 'json', { state: 'Applying' });
    await reportCluster(client, 'json', { state: 'Soaking', objects: { total: 5, applied: 5 } });
    const { stdout } = await run(installed, 'status', 'json', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      cluster: { name: 'json', state: 'Soaking' },
      objects: [{ count: 5, state: 'Applied' }],
    });
  });

  it('names the clusters that exist for one that does not, and completes their names', async () => {
    await declareCluster(installed.server.client, 'known', { state: 'Proven' });
    const { exitCode, stderr } = await run(installed, 'status', 'unknown');
    expect([exitCode, stderr]).toEqual([
      65,
      expect.stringMatching(/Cluster unknown not found in the hub\n.*known/),
    ]);
    const completed = await run(installed, 'completion', '--words', '--', 'status');
    expect(completed.stdout.split('\n')).toContain('known');
  });

  it('refuses to watch one cluster, with the command that watches all', async () => {
    const io = testIo({ env: { KUBECONFIG: installed.server.kubeconfig } });
    const code = await runCommandLine(io, ['status', 'known', '--watch']);
    expect([code, io.stderr]).toEqual([64, expect.stringContaining('kubenode status --watch')]);
  });
});
