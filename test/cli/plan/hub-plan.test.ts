import { describe, expect, it } from 'vitest';
import { createPlanCommit, unreadText } from '../../../src/cli/plan/hub-plan.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { GitRepository } from '../../../src/sync/git/transport.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const QUESTION = {
  pipeline: 'fleet',
  from: { commit: 'b1', targets: [] },
  to: { commit: 'h1', targets: [] },
  git: {} as GitRepository,
  path: '.',
  signal: new AbortController().signal,
};

describe('S22 the plan that sync makes', () => {
  it('fails when the hub cannot be read, and leaves no connection: from commit to commit it would promise nothing', async () => {
    let closed = 0;
    const client = {
      list: async () => Promise.reject(new KubeError('Unreachable', 'no hub')),
      close: async () => void (closed += 1),
    } as unknown as Client;
    const options = { clock: virtualClock(), log: memoryLog() };
    const planCommit = createPlanCommit({ ...options, connect: async () => client });
    await expect(planCommit(QUESTION)).rejects.toThrow('no hub');
    expect(closed).toBe(1);
  });

  it('S29 refuses a head that names an account for a unit that it lacks', async () => {
    const client = {
      list: async () => ({ items: [] }),
      get: async () => ({ metadata: { uid: 'hub' } }),
      close: async () => undefined,
    } as unknown as Client;
    const options = { clock: virtualClock(), log: memoryLog() };
    const planCommit = createPlanCommit({ ...options, connect: async () => client });
    const object = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'Pipeline',
      metadata: { name: 'fleet' },
      spec: { identities: [{ unit: 'wev', serviceAccount: 'apps/deployer' }] },
    };
    const unit = { unit: 'fleet', objects: [{ object, source: {} }], digest: 'sha256:1' };
    const to = { commit: 'h1', targets: [{ target: 'hub', units: [unit], digest: 'sha256:1' }] };
    const { preview } = await planCommit({ ...QUESTION, to });
    expect(preview.refusals.map(({ message }) => message)).toEqual([
      'spec.identities names unit wev, which no cluster gets from this commit: correct the name, or add the identity in the commit that adds the unit',
    ]);
  });

  it('quotes no server in what a git host shows', () => {
    const message = 'secrets is forbidden at https://10.1.2.3:6443';
    const texts = [new KubeError('Forbidden', message), new Error(message)].map(unreadText);
    expect(texts).toEqual([
      'kubenode-sync may not read or write there what the commit needs: see the log of kubenode sync',
      'it cannot be read: see the log of kubenode sync',
    ]);
  });
});
