import { describe, expect, it } from 'vitest';
import type { Pipeline, Release } from '../../../src/api/generated/types.ts';
import { createRestClient } from '../../../src/kube/client/rest-client.ts';
import type { HttpRequest } from '../../../src/kube/transport/transport.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { createHubCache, type HubCache } from '../../../src/sync/hub/hub-cache.ts';
import type { WriteFence } from '../../../src/sync/promote/ports.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { clusterOf } from '../promote/builders.ts';

const PIPELINE = {
  apiVersion: 'kubenode.dev/v1alpha1',
  kind: 'Pipeline',
  metadata: { name: 'fleet' },
} as Pipeline;
const RELEASE = {
  apiVersion: 'kubenode.dev/v1alpha1',
  kind: 'Release',
  metadata: { name: 'fleet-1', uid: 'u' },
  spec: { pipeline: 'fleet', commit: 'c1' },
} as Release;

describe('S28 the hub is written only while the Lease is held', () => {
  it.each<[write: string, act: (hub: HubCache, fence: WriteFence) => Promise<void>]>([
    ['the status of a Cluster', (hub, fence) => hub.applyClusterStatus(clusterOf(), fence)],
    ['the status of a Pipeline', (hub, fence) => hub.applyPipelineStatus(PIPELINE, fence)],
    ['the status of a Release', (hub, fence) => hub.applyReleaseStatus(RELEASE, fence)],
    ['a new Release', (hub, fence) => hub.createRelease(RELEASE, fence)],
    ['the delete of a Release', (hub, fence) => hub.deleteRelease(RELEASE, fence)],
    [
      'the commit statuses that the git host accepted',
      (hub, fence) => hub.recordCommitStatuses('fleet', undefined, fence),
    ],
    ['the report about a cluster', (hub, fence) => hub.applyClusterReport('a', undefined, fence)],
  ])('does not send %s after the Lease was lost', async (_, act) => {
    const sent: string[] = [];
    let held = true;
    const hub = hubOver(sent);
    const fence = (): void => {
      if (!held) throw new Error('lease pipeline-fleet is held by two');
    };
    await act(hub, fence).catch(() => undefined);
    expect(sent).toHaveLength(1);
    held = false;
    await expect(act(hub, fence)).rejects.toMatchObject({
      code: 'Aborted',
      message: expect.stringContaining('request not sent: lease pipeline-fleet is held by two') as string,
    });
    expect(sent).toHaveLength(1);
  });
});

/** Records the requests that leave, and answers them with an empty object. */
function hubOver(sent: string[]): HubCache {
  const clock = createSystemClock();
  const request = async ({ method, path, beforeSend }: HttpRequest): Promise<never> => {
    beforeSend?.();
    sent.push(`${method} ${path}`);
    return { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' } as never;
  };
  const transport = { request, stream: request, close: async () => undefined };
  const client = createRestClient(transport, { server: 'memory', clock });
  return createHubCache({ client, clock, log: memoryLog(), random: () => 0.5 });
}
