import { describe, expect, it } from 'vitest';
import type { FleetPolicy, Pipeline } from '../../../src/api/generated/types.ts';
import { findUnlimited, unsyncedReasons } from '../../../src/cli/fleet/sync-leases.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { NOW } from '../commands/builders.ts';

const LABEL = 'Lease kubenode-system/pipeline-fleet';

function secondsAgo(seconds: number): string {
  return new Date(NOW.getTime() - seconds * 1000).toISOString();
}

function held(seconds: number): object {
  return { holderIdentity: 'host-1', leaseDurationSeconds: 15, renewTime: secondsAgo(seconds) };
}

function released(seconds: number): object {
  return { leaseDurationSeconds: 1, renewTime: secondsAgo(seconds) };
}

function reasonsOf(createdSecondsAgo: number, spec: object | undefined, flags = {}): readonly string[] {
  const metadata = { name: 'fleet', creationTimestamp: secondsAgo(createdSecondsAgo) };
  const lease = spec && ({ metadata: { name: 'pipeline-fleet' }, spec } as never);
  return unsyncedReasons([{ pipeline: { metadata } as Pipeline, lease }], NOW, flags);
}

describe('unsyncedReasons', () => {
  it.each<[when: string, created: number, spec: object | undefined, because: string | undefined]>([
    ['a holder renewed it within its term', 3600, held(15), undefined],
    ['a holder was silent for longer than its term', 3600, held(16), `host-1 last renewed ${LABEL} 16s ago`],
    ['it was released a moment ago: another process takes over', 3600, released(15), undefined],
    ['it was released longer ago', 3600, released(300), `${LABEL} was released 5m ago`],
    ['the Pipeline was created a moment ago', 15, undefined, undefined],
    ['it was never held', 16, undefined, `${LABEL} was never held`],
  ])('FST-1 knows whether a process syncs when %s', (_, created, spec, because) => {
    expect(reasonsOf(created, spec)).toEqual(
      because ? [`nothing syncs pipeline fleet: ${because}. Start it: kubenode sync`] : [],
    );
  });

  it('FST-1 names the command that reaches the same hub', () => {
    const [reason] = reasonsOf(3600, undefined, { kubeconfig: 'hub.yaml', context: 'hub' });
    expect(reason).toMatch(/Start it: kubenode sync --kubeconfig hub.yaml --context hub$/);
  });
});

describe('findUnlimited', () => {
  const policy = { metadata: { name: 'fleet', creationTimestamp: secondsAgo(3600) } } as FleetPolicy;
  const label = 'Lease kubenode-system/fleet-limits';

  async function found(spec: object | undefined, policies = [policy]): Promise<string | undefined> {
    const client = {
      get: async () => {
        await Promise.resolve();
        if (spec === undefined) throw new KubeError('NotFound', 'not found');
        return { metadata: { name: 'fleet-limits' }, spec };
      },
      create: () => Promise.resolve({ metadata: { creationTimestamp: NOW.toISOString() } }),
    } as unknown as Client;
    return findUnlimited(client, policies, { now: NOW, flags: {}, signal: new AbortController().signal });
  }

  it('names the Lease and since when no process hands out allowances', async () => {
    expect(await found(held(600))).toBe(
      `nothing hands out allowances: host-1 last renewed ${label} 10m ago. What follows is the last report; each cluster continues at its floor. Start it: kubenode sync`,
    );
    expect(await found(undefined)).toContain(`${label} was never held`);
  });

  it('finds nothing while a process does, or where nothing is limited', async () => {
    expect(await found(held(5))).toBeUndefined();
    expect(await found(undefined, [])).toBeUndefined();
  });
});
