import { describe, expect, it } from 'vitest';
import { DEFENDER_LEDGERS, MACHINES } from '../../../../../src/api/generated/resources.ts';
import { LEDGER } from '../../../../../src/api/names.ts';
import {
  ANNOTATION_DRAIN_HOOK,
  foreignMachine,
} from '../../../../../src/controllers/following/clusterapi/contract.ts';
import { createDisruptionController } from '../../../../../src/controllers/following/clusterapi/disruption/controller.ts';
import type { DisruptionParts } from '../../../../../src/controllers/following/clusterapi/disruption/execute.ts';
import { KubeError } from '../../../../../src/kube/client/errors.ts';
import { NODES } from '../../../../../src/kube/objects/core-kinds.ts';
import { isRecord, listAt } from '../../../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../../../src/kube/objects/object.ts';
import { servedKind } from '../../../../../src/sim/api-server/kinds.ts';
import {
  type BedProcess,
  type ControllerBed,
  createControllerBed,
} from '../../../../support/controller/bed.ts';
import { NOW } from '../../../../support/virtual-clock.ts';
import { ours, theirNode, theirObject } from '../objects.ts';

/** Cluster API: two Machines, and what was written to them. */
class TheirCluster {
  readonly changed = new Set<() => void>();
  readonly objects = new Map([1, 2].map((n) => [`md-${n}`, versioned(theirObject(n), 1)]));
  isReadable = true;
  refuses: string | undefined;
  refusesStatus = false;

  /** What the watch has not delivered yet. */
  late: ReadonlyMap<string, KubeObject> | undefined;

  read(): {
    readonly machines: readonly ReturnType<typeof foreignMachine>[];
    readonly clusters: readonly [];
  } {
    return { machines: [...(this.late ?? this.objects).values()].map(foreignMachine), clusters: [] };
  }

  change(name: string, changed: (before: KubeObject) => KubeObject): KubeObject {
    if (this.refuses === name) throw new KubeError('Forbidden', 'no right');
    const before = this.objects.get(name);
    if (!before) throw new KubeError('NotFound', 'none');
    const after = versioned(changed(before), Number(before.metadata.resourceVersion) + 1);
    this.objects.set(name, after);
    for (const tell of this.changed) tell();
    return after;
  }

  client(): DisruptionParts['client'] {
    return {
      patch: async (_: unknown, { name }: { name: string }, { body }: { body: unknown }) =>
        this.change(name, (before) => withHook(before, body)),
      apply: async (_: unknown, object: KubeObject) => {
        if (this.refusesStatus) throw new KubeError('Unreachable', 'away');
        return this.change(object.metadata.name, (before) => withConditions(before, object));
      },
    } as unknown as DisruptionParts['client'];
  }

  shown(name: string): string {
    const found = this.objects.get(name);
    const [condition] = listAt(found, 'status', 'conditions');
    const reason = isRecord(condition) ? condition['reason'] : 'none';
    return `${found?.metadata.annotations?.[ANNOTATION_DRAIN_HOOK] ?? 'no hook'}; ${String(reason)}`;
  }
}

function versioned(object: KubeObject, version: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: `${version}` } };
}

/** As the API server does: a patch that names a version is for this version only. */
function withHook(before: KubeObject, body: unknown): KubeObject {
  const { metadata } = body as {
    metadata: { annotations: Record<string, string | null>; resourceVersion: string };
  };
  const { annotations, resourceVersion } = metadata;
  if (resourceVersion !== before.metadata.resourceVersion) throw new KubeError('Conflict', 'changed');
  const merged = Object.entries({ ...before.metadata.annotations, ...annotations });
  const kept = merged.filter((entry): entry is [string, string] => entry[1] !== null);
  return { ...before, metadata: { ...before.metadata, annotations: Object.fromEntries(kept) } };
}

function withConditions(before: KubeObject, { status }: KubeObject): KubeObject {
  return { ...before, status: { ...(before['status'] as object), ...(status as object) } };
}

const GRANT = {
  id: 'g1',
  fence: 1,
  state: 'Started',
  holder: { kind: 'RemedyOperationJob', name: 'job-1' },
  action: 'Reboot',
  risk: 'Node',
  issuedAt: NOW.toISOString(),
  notAfter: new Date(NOW.getTime() + 600_000).toISOString(),
};
const ACT = `Reboot for RemedyOperationJob job-1 since ${NOW.toISOString()}, grant g1; Disrupted`;
const REST = 'no hook; Steady';

function own(n: number): KubeObject {
  const { apiVersion, kind, metadata, spec } = ours(n);
  return { apiVersion, kind, metadata: { name: metadata.name }, spec };
}

function ledger(grants: object): KubeObject {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'DefenderLedger',
    metadata: { name: LEDGER },
    spec: { seq: 1, epoch: 1, grants },
  };
}

function optionsFor(cluster: () => TheirCluster): Parameters<typeof createControllerBed>[0] {
  return {
    controllers: () => {
      const theirCluster = cluster();
      const source = {
        open: (tell: () => void) => {
          theirCluster.changed.add(tell);
          tell();
          return () => void theirCluster.changed.delete(tell);
        },
        read: () => (theirCluster.isReadable ? theirCluster.read() : { unreadable: 'Forbidden' }),
      };
      return [createDisruptionController({ source, client: theirCluster.client() })];
    },
    kinds: [MACHINES, NODES, DEFENDER_LEDGERS].map((kind) => servedKind(kind)),
    objects: [own(1), own(2), theirNode(1), theirNode(2), ledger({})],
  };
}

async function start(cluster: TheirCluster): Promise<ControllerBed & { readonly first: BedProcess }> {
  const bed = createControllerBed(optionsFor(() => cluster));
  const first = await bed.start();
  await bed.advance(3000);
  return { ...bed, first };
}

async function setGrants(bed: ControllerBed, grants: object): Promise<void> {
  bed.apply(ledger(grants));
  await bed.advance(3000);
}

describe('what Cluster API is shown', () => {
  it('CAP-20 has the hook and the condition while a grant is in use, on this machine only, and not after it', async () => {
    const cluster = new TheirCluster();
    const bed = await start(cluster);
    expect(['md-1', 'md-2'].map((name) => cluster.shown(name))).toEqual([REST, REST]);
    await setGrants(bed, { 'node-1': GRANT });
    expect(['md-1', 'md-2'].map((name) => cluster.shown(name))).toEqual([ACT, REST]);
    await setGrants(bed, { 'node-1': { ...GRANT, state: 'Settled' } });
    expect(['md-1', 'md-2'].map((name) => cluster.shown(name))).toEqual([REST, REST]);
  });

  it('ends with the time of a grant that is not settled', async () => {
    const cluster = new TheirCluster();
    const bed = await start(cluster);
    await setGrants(bed, { 'node-1': GRANT });
    await bed.advance(601_000);
    expect(cluster.shown('md-1')).toBe(REST);
  });

  it('CAP-20 is completed after a kill between the hook and the condition', async () => {
    const cluster = new TheirCluster();
    const bed = await start(cluster);
    cluster.refusesStatus = true;
    await setGrants(bed, { 'node-1': GRANT });
    expect(cluster.shown('md-1')).toBe(ACT.replace('Disrupted', 'Steady'));
    await bed.first.kill();
    cluster.refusesStatus = false;
    await bed.start();
    await bed.advance(3000);
    expect(cluster.shown('md-1')).toBe(ACT);
  });

  it('CAP-20 gives no hook to a machine whose deletion began before the watch has it', async () => {
    const cluster = new TheirCluster();
    const bed = await start(cluster);
    cluster.late = new Map(cluster.objects);
    cluster.change('md-1', (before) => ({
      ...before,
      metadata: { ...before.metadata, deletionTimestamp: '2030-01-01T12:00:00Z' },
    }));
    await setGrants(bed, { 'node-1': GRANT });
    cluster.late = undefined;
    await setGrants(bed, { 'node-1': { ...GRANT, fence: 2 } });
    expect(cluster.shown('md-1')).toBe(REST);
    await setGrants(bed, { 'node-2': { ...GRANT, id: 'g2' } });
    expect(cluster.shown('md-2')).toBe(ACT.replace('g1', 'g2'));
  });

  it('stays as it is while theirs cannot be read', async () => {
    const cluster = new TheirCluster();
    const bed = await start(cluster);
    cluster.isReadable = false;
    await setGrants(bed, { 'node-1': GRANT });
    expect(cluster.shown('md-1')).toBe(REST);
  });

  it('is shown on the other machines when one cannot be written', async () => {
    const cluster = new TheirCluster();
    const bed = await start(cluster);
    cluster.refuses = 'md-1';
    await setGrants(bed, { 'node-1': GRANT, 'node-2': { ...GRANT, id: 'g2' } });
    expect(['md-1', 'md-2'].map((name) => cluster.shown(name))).toEqual([REST, ACT.replace('g1', 'g2')]);
    cluster.refuses = undefined;
    await bed.advance(60_000);
    expect(cluster.shown('md-1')).toBe(ACT);
  });
});
