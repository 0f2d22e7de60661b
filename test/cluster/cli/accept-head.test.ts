import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PIPELINES } from '../../../src/api/generated/resources.ts';
import type { Pipeline } from '../../../src/api/generated/types.ts';
import { MANAGER_SYNC } from '../../../src/api/names.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { isHeadAccepted } from '../../../src/sync/accepted-heads.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';

let installed: InstalledServer;
beforeAll(async () => {
  installed = await startInstalledServer();
});
afterAll(() => installed?.stop());

const HEAD = 'a'.repeat(40);
const STAGES = [{ name: 'test', clusterSelector: { matchLabels: { 'kubenode.dev/environment': 'test' } } }];

/** As sync writes what a commit declares. */
async function syncCommit(acceptHead?: string): Promise<void> {
  const source = { repository: 'https://git.example.com/fleet', ...(acceptHead ? { acceptHead } : {}) };
  const object: KubeObject = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name: 'fleet' },
    spec: { source, stages: STAGES },
  };
  await installed.server.client.apply(PIPELINES, object, { fieldManager: MANAGER_SYNC, force: true });
}

async function run(...args: string[]): Promise<TestIo & { code: number }> {
  const io = testIo({ env: { KUBECONFIG: installed.server.kubeconfig } });
  const code = await runCommandLine(io, args);
  return Object.assign(io, { code });
}

async function read(): Promise<Pipeline> {
  return installed.server.client.get<Pipeline>(PIPELINES, { name: 'fleet' });
}

describe('release accept-head', () => {
  it('SAF-6 accepts a held head with --yes only, and it stays accepted whatever git declares later', async () => {
    await syncCommit();
    const head = { commit: HEAD, verdict: 'NotDescendant', message: 'it does not descend' };
    const { apiVersion, kind, metadata } = await read();
    const status = { head, conditions: [] };
    await installed.server.client.apply(
      PIPELINES,
      { apiVersion, kind, metadata: { name: metadata.name }, status },
      { fieldManager: MANAGER_SYNC, force: true, subresource: 'status' },
    );

    expect((await run('release', 'accept-head')).code).not.toBe(0);
    expect(isHeadAccepted(await read(), HEAD)).toBe(false);
    const accepted = await run('release', 'accept-head', HEAD.slice(0, 12), '--yes');
    expect(accepted.code).toBe(0);
    expect(isHeadAccepted(await read(), HEAD)).toBe(true);

    await syncCommit('b'.repeat(40));
    expect(isHeadAccepted(await read(), HEAD)).toBe(true);
    await syncCommit();
    expect(isHeadAccepted(await read(), HEAD)).toBe(true);

    // A halt does not take the accepted head back, and an accepted head does not lift the halt.
    await run('release', 'halt', 'fleet', '--reason', 'ticket 7');
    expect(isHeadAccepted(await read(), HEAD)).toBe(true);
    expect((await run('release', 'accept-head', '--yes')).code).toBe(0);
    expect((await read()).spec.halt?.reason).toBe('ticket 7');
    await run('release', 'resume', 'fleet');
    expect((await read()).spec.halt).toBeUndefined();
    expect(isHeadAccepted(await read(), HEAD)).toBe(true);
  });
});
