import { describe, expect, it, onTestFinished } from 'vitest';
import type { ForeignClusterName } from '../../../../../src/controllers/following/clusterapi/management.ts';
import {
  createForeignSource,
  type ForeignSource,
} from '../../../../../src/controllers/following/clusterapi/observe/foreign-source.ts';
import type { Client } from '../../../../../src/kube/client/client.ts';
import { KubeError, type KubeErrorCode } from '../../../../../src/kube/client/errors.ts';
import type { Resource } from '../../../../../src/kube/objects/object.ts';
import { createMemoryApi, type MemoryApi } from '../../../../support/controller/memory-api.ts';
import { type MemoryLog, memoryLog } from '../../../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../../../support/virtual-clock.ts';
import { theirObject } from '../objects.ts';

const KINDS = (['Machine', 'Cluster'] as const).map((kind) => ({
  resource: {
    group: 'cluster.x-k8s.io',
    version: 'v1beta2',
    kind,
    plural: `${kind.toLowerCase()}s`,
    namespaced: true,
  },
}));

interface SourceBed {
  readonly source: ForeignSource;
  readonly clock: VirtualClock;
  readonly api: MemoryApi;
  readonly log: MemoryLog;
  readonly client: Client;
  /** What the API server answers to each request; by default it serves v1beta2. */
  readonly server: { versions: readonly string[]; refuses?: KubeErrorCode; asked: number };
  readonly changes: string[];
}

function open(versions: readonly string[] = ['v1beta2'], cluster?: ForeignClusterName): SourceBed {
  const clock = virtualClock();
  const log = memoryLog();
  const api = createMemoryApi({ clock, kinds: KINDS });
  const server: SourceBed['server'] = { versions, asked: 0 };
  const real = api.connection().client();
  const check = (): void => {
    if (server.versions.length === 0) throw new KubeError('NotFound', 'no such kind');
    if (server.refuses) throw new KubeError(server.refuses, 'refused');
  };
  // The API in memory has one version of the kinds, whatever the source asks for.
  const served = ({ kind }: Resource): Resource =>
    KINDS.find(({ resource }) => resource.kind === kind)?.resource as Resource;
  const client = {
    ...real,
    resourceFor: async (apiVersion: string, kind: string) => {
      server.asked += 1;
      const isServed = server.versions.some((each) => apiVersion.endsWith(`/${each}`));
      if (!isServed) throw new KubeError('NotFound', 'not served');
      return served({ kind } as Resource);
    },
    pages: async function* (resource: Resource, options: object) {
      check();
      yield* real.pages(served(resource), options);
    },
    watch: async function* (resource: Resource, options: object) {
      check();
      yield* real.watch(served(resource), options as never);
    },
  } as unknown as Client;
  const source = createForeignSource({ client, clock, log, random: () => 0, cluster });
  const changes: string[] = [];
  onTestFinished(
    source.open(() => {
      const theirs = source.read();
      const text = !theirs
        ? 'starting'
        : 'unreadable' in theirs
          ? theirs.unreadable
          : `${theirs.machines.length}`;
      if (changes.at(-1) !== text) changes.push(text);
    }),
  );
  return { source, clock, api, log, client, server, changes };
}

function put({ api }: SourceBed, n: number): void {
  api.objects.apply(KINDS[0] as never, theirObject(n), { manager: 'capi', force: true });
}

async function advance(clock: VirtualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 500) await clock.advance(500); // oxlint-disable-line no-await-in-loop -- in steps
}

const NOT_SERVED =
  'the API server does not serve Machines and Clusters of cluster.x-k8s.io in v1beta2 or v1beta1. Install Cluster API, or start without --cluster-api';

describe('the source of Machines of Cluster API', () => {
  it('CAP-01 tells each change, and has nothing until both kinds are listed', async () => {
    const bed = open();
    put(bed, 1);
    expect(bed.source.read()).toBeUndefined();
    await advance(bed.clock, 6000);
    put(bed, 2);
    await advance(bed.clock, 1000);
    expect(bed.changes).toEqual(['starting', '1', '2']);
    expect((await bed.source.list(new AbortController().signal)).machines.map(({ name }) => name)).toEqual([
      'md-1',
      'md-2',
    ]);
  });

  it('shares one watch between several callers, until the last one leaves', async () => {
    const bed = open();
    const called: string[] = [];
    const [leave, leaveToo] = ['a', 'b'].map((name) => bed.source.open(() => void called.push(name)));
    await advance(bed.clock, 6000);
    // Two kinds in two versions, once.
    expect(bed.server.asked).toBe(4);
    leave?.();
    called.length = 0;
    put(bed, 1);
    await advance(bed.clock, 1000);
    expect([...new Set(called)]).toEqual(['b']);
    leaveToo?.();
    called.length = 0;
    put(bed, 2);
    await advance(bed.clock, 1000);
    expect([called, bed.changes.at(-1)]).toEqual([[], '2']);
  });

  it('CAP-21 reads nothing while the Cluster that is named was not found, so that a wrong name deletes nothing', async () => {
    const bed = open(['v1beta2'], { namespace: 'fleet', name: 'c' });
    put(bed, 1);
    await advance(bed.clock, 6000);
    const unreadable = 'Cluster fleet/c of Cluster API was not found. Check --cluster-api-cluster';
    expect(bed.source.read()).toEqual({ unreadable });
    await expect(bed.source.list(new AbortController().signal)).rejects.toThrow(unreadable);
    const metadata = { namespace: 'fleet', name: 'c' };
    const cluster = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', metadata, spec: {} };
    bed.api.objects.apply(KINDS[1] as never, cluster, { manager: 'capi', force: true });
    bed.api.objects.apply(
      KINDS[0] as never,
      { ...theirObject(2), spec: { clusterName: 'd' } },
      { manager: 'capi', force: true },
    );
    await advance(bed.clock, 6000);
    const listed = await bed.source.list(new AbortController().signal);
    expect([bed.changes.at(-1), listed.machines.map(({ name }) => name)]).toEqual(['1', ['md-1']]);
  });

  it('CAP-01 begins when the kinds appear, and asks little until then', async () => {
    const bed = open([]);
    await advance(bed.clock, 60_000);
    expect(bed.changes).toEqual([NOT_SERVED]);
    expect(bed.server.asked).toBeLessThanOrEqual(20);
    put(bed, 1);
    bed.server.versions = ['v1beta1'];
    await advance(bed.clock, 20_000);
    expect(bed.changes.at(-1)).toBe('1');
    const found = bed.log.lines.find(({ message }) => message === 'cluster api found');
    expect(found?.fields).toEqual({ version: 'v1beta1' });
  });

  it('CAP-02 knows nothing of them when the kinds are removed, until they come back', async () => {
    const bed = open();
    put(bed, 1);
    await advance(bed.clock, 6000);
    bed.server.versions = [];
    // The server ends each watch within ten minutes.
    await advance(bed.clock, 700_000);
    expect(bed.source.read()).toEqual({ unreadable: NOT_SERVED });
    await expect(bed.source.list(new AbortController().signal)).rejects.toThrow(/does not serve/);
    bed.server.versions = ['v1beta2'];
    await advance(bed.clock, 20_000);
    expect(bed.changes.slice(-3)).toEqual([NOT_SERVED, 'starting', '1']);
  });

  it('CAP-02 names the missing right at once, and bears another error for half a minute', async () => {
    const forbidden = open();
    forbidden.server.refuses = 'Forbidden';
    await advance(forbidden.clock, 6000);
    expect(forbidden.changes.at(-1)).toBe(
      'the machines of Cluster API cannot be read: Forbidden. Run kubenode install --cluster-api',
    );
    const failing = open();
    failing.server.refuses = 'ServerError';
    await advance(failing.clock, 25_000);
    expect(failing.source.read()).toBeUndefined();
    await advance(failing.clock, 15_000);
    const unreadable = 'the machines of Cluster API cannot be read: ServerError';
    expect(failing.source.read()).toEqual({ unreadable });
    await advance(failing.clock, 300_000);
    expect(failing.changes).toEqual(['starting', unreadable]);
  });
});
