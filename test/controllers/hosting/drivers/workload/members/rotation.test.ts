/** What hosting reports about pods in a rotation of the authorities, over a hub in memory. */
import { describe, expect, it } from 'vitest';
import { createWorkloadDriver } from '../../../../../../src/controllers/hosting/drivers/workload/driver.ts';
import { planeNamespace } from '../../../../../../src/controllers/hosting/drivers/workload/names.ts';
import { PODS } from '../../../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../../../src/kube/objects/object.ts';
import { servedKind } from '../../../../../../src/sim/api-server/kinds.ts';
import type { MemoryHub } from '../../../../../support/hosting/memory-hub.ts';
import {
  ask,
  createdHub,
  ONE,
  planeIn,
  recordOf,
  rotatingSpec,
  until,
} from '../../../../../support/hosting/rotating-hub.ts';

const LIMIT = 600_000;
const NAMESPACE = planeNamespace('ci');

/** A pod with a finalizer stays while it is being deleted, as one does whose node does not answer. */
function keepPods(hub: MemoryHub, finalizers: readonly string[]): void {
  for (const { metadata } of hub.pods('kube-apiserver')) {
    const change = (live: KubeObject): KubeObject => ({
      ...live,
      metadata: { ...live.metadata, finalizers },
    });
    const name = { name: metadata.name, namespace: NAMESPACE };
    hub.api.objects.merge(servedKind(PODS), name, change, { manager: 'person', force: true });
  }
}

describe('the pods of a control plane in a rotation', { timeout: LIMIT }, () => {
  it('HOS-22 do not refuse the former authority while one that is being deleted is left', async () => {
    const { hub } = await createdHub();
    await ask(hub, 'Prepare');
    keepPods(hub, ['example.com/node']);
    await ask(hub, 'Complete');
    expect([recordOf(hub).rotation?.phase, hub.status()?.waiting]).toMatchObject([
      'TrustNew',
      { reason: 'AuthoritiesNotProven', message: expect.stringContaining('kube-apiserver') as string },
    ]);
    keepPods(hub, []);
    await hub.advance(60_000);
    expect(hub.status()?.caRotation?.step).toBe('Completed');
  });

  it('HOS-22 are in the phase that was observed when it is signed', async () => {
    const { hub, first } = await createdHub();
    hub.apply(rotatingSpec('Prepare'));
    await until(hub, () => {
      const { rotation } = recordOf(hub);
      return rotation?.phase === 'IssueNew' && rotation.isApplied;
    });
    await first.stop();
    const client = await hub.api.connection().connect();
    const driver = createWorkloadDriver({ client, clock: hub.clock, images: async () => hub.images });
    const { signed } = recordOf(hub);
    const observed = { rotation: { id: '2026', phase: 'TrustBoth' as const, sequence: 1 } };
    const found = await driver.signAuthorities?.(planeIn(hub), { reported: [], observed });
    expect([found?.document, recordOf(hub).signed]).toEqual([signed?.document, signed]);
  });

  it.each([[ONE], [{ ...ONE, replicas: 2 }]])(
    'HOS-22 hold the phase where an API server signs by the key of the phase before: %j',
    async (hosted) => {
      const { hub } = await createdHub(hosted);
      hub.apply(rotatingSpec('Prepare', hosted));
      await until(hub, () => hub.made.includes('publish TrustBoth'));
      hub.authorities.stale.add('kube-apiserver');
      await hub.advance(60_000);
      expect(hub.status()?.waiting).toMatchObject({
        reason: 'CanaryFailed',
        message: expect.stringContaining('signs tokens by another key') as string,
      });
      expect(hub.made).not.toContain('publish IssueNew');
      hub.authorities.stale.clear();
      for (const { metadata } of hub.pods('kube-apiserver')) {
        hub.api.objects.delete(servedKind(PODS), { name: metadata.name, namespace: NAMESPACE });
      }
      await hub.advance(60_000);
      expect(hub.status()?.caRotation?.step).toBe('Prepared');
    },
  );
});
