import { expect, it } from 'vitest';
import { fencedHub } from '../../../src/sync/promote/fenced-hub.ts';
import type { HubStore } from '../../../src/sync/promote/ports.ts';

const WRITES = [
  'applyClusterStatus',
  'applyPipelineStatus',
  'applyReleaseStatus',
  'createRelease',
  'deleteRelease',
] as const;
const READS = ['pipeline', 'pipelines', 'clusters', 'holds', 'releasesOf'] as const;

const fence = (): void => undefined;

it('gives the fence to each write, and to no read', async () => {
  const calls: unknown[][] = [];
  const names: readonly (keyof HubStore)[] = [...WRITES, ...READS];
  const record = names.map((name) => [name, async (...args: unknown[]) => void calls.push([name, ...args])]);
  const hub = fencedHub(Object.fromEntries(record) as HubStore, fence);
  expect(Object.keys(hub).toSorted()).toEqual(names.toSorted());
  for (const name of WRITES) await (hub[name] as (object: unknown) => Promise<void>)('object');
  await Promise.all([hub.pipeline('p'), hub.pipelines(), hub.clusters()]);
  hub.holds?.();
  await hub.releasesOf('p');
  expect(calls).toEqual([
    ...WRITES.map((name) => [name, 'object', fence]),
    ['pipeline', 'p'],
    ['pipelines'],
    ['clusters'],
    ['holds'],
    ['releasesOf', 'p'],
  ]);
});
