/** A machine whose instance is kept for an analysis, by the whole controller: what is deleted when, and crashes at any write. */
import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { createMachineController } from '../../../src/controllers/machine/controller.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { machine, node } from '../../support/builders.ts';
import { type BedCrash, type ControllerBed, createControllerBed } from '../../support/controller/bed.ts';
import { MACHINE_KINDS } from '../../support/controller/machine-kinds.ts';
import { drainPod } from '../../support/kube/drain-bed.ts';
import { ledgerOf, type MemoryGrants, memoryGrants } from '../../support/memory-grants.ts';
import { type MemoryProvider, memoryProvider } from '../../support/memory-provider.ts';

const HOLD_SECONDS = 600;
const LABELS = { 'kubenode.dev/machineset': 'web' };

interface KeptBed extends ControllerBed {
  readonly grants: MemoryGrants;
  readonly provider: MemoryProvider;
  readonly replace: (name?: string) => Promise<void>;
  readonly machine: (name?: string) => Machine | undefined;
}

/** Machines with an instance, a Node, and a pod, which a job has marked. */
async function keptBed(names: readonly string[] = ['m'], crash?: BedCrash): Promise<KeptBed> {
  let current: ControllerBed | undefined;
  const now = (): Date => current?.clock.now() ?? new Date('2030-01-01T12:00:00Z');
  const provider = memoryProvider(now);
  const grants = memoryGrants({ now });
  const client = { pages, get };
  const instances = {
    providers: { local: provider },
    clusterUid: 'c',
    createBootstrap: async () => ({ text: 'token', expiresAt: new Date(now().getTime() + 900_000) }),
  };
  const bed = createControllerBed({
    controllers: [createMachineController({ client: client as never, grants, instances })],
    kinds: MACHINE_KINDS,
    objects: names.flatMap((name) => [declared(name), podOn(name)]),
  });
  current = bed;
  grants.changed = (ledger) => bed.apply(ledgerOf(ledger));
  for (const name of names) register(bed, name);
  await bed.start();
  await bed.advance(15_000);
  for (const name of names) mark(bed, name);
  await bed.advance(3000);
  bed.writes();
  if (crash) await bed.start(crash);
  return {
    ...bed,
    grants,
    provider,
    machine: (name = 'm') => bed.get<Machine>(MACHINES, name),
    replace: async (name = 'm') => {
      bed.delete(MACHINES, name);
      await bed.advance(20_000);
    },
  };

  async function* pages(resource: Resource): AsyncGenerator<{ items: readonly KubeObject[] }> {
    if (current) yield { items: current.api.objects.list({ resource }, undefined) };
  }

  async function get(_: unknown, { name }: { readonly name: string }): Promise<KubeObject> {
    const found = current?.get(NODES, name);
    if (!found) throw new KubeError('NotFound', 'it was not found');
    return found;
  }
}

function declared(name: string): KubeObject {
  const infra = { provider: 'local', config: { type: 'sandbox' } } as const;
  const { status: _, metadata, ...rest } = machine(name, { spec: { components: [], infra } });
  return { ...rest, metadata: { name: metadata.name, labels: LABELS } };
}

function podOn(name: string): KubeObject {
  const { metadata, ...rest } = drainPod(`on-${name}`, { nodeName: name });
  return { ...rest, metadata: { name: `on-${name}`, namespace: metadata.namespace ?? '' } };
}

function register(bed: ControllerBed, name: string): void {
  const { metadata: _, ...its } = node(name);
  bed.apply({ ...its, metadata: { name }, status: undefined });
  bed.apply({ ...its, metadata: { name }, spec: undefined }, 'status');
}

function mark(bed: ControllerBed, name: string): void {
  const replacement = {
    job: 'job-1',
    grant: 'g-0',
    fence: 1,
    replacementFirst: false,
    wasReady: true,
    since: '2030-01-01T00:00:00Z',
    keepFailed: { holdSeconds: HOLD_SECONDS, max: 1 },
  };
  const { apiVersion = '', kind = '' } = bed.get<Machine>(MACHINES, name) ?? {};
  bed.apply({ apiVersion, kind, metadata: { name }, status: { replacement } }, 'status');
}

function stateOf({ provider, grants, ...bed }: KeptBed, name = 'm'): string {
  const found = bed.machine(name);
  return [
    found ? `Machine ${found.status?.waiting?.reason}` : 'no Machine',
    bed.get(NODES, name) ? 'Node' : 'no Node',
    provider.instances.has(`local:///${found?.metadata.uid}`) ? 'instance' : 'no instance',
    `open grants ${grants.open.size}`,
  ].join(', ');
}

describe('a machine whose job asks to keep it', () => {
  it('MAC-40 is drained, loses its Node, and keeps its instance until the time is over', async () => {
    const bed = await keptBed();
    await bed.replace();
    expect(stateOf(bed)).toBe('Machine Kept, no Node, instance, open grants 0');
    expect(bed.writes().filter((what) => /Node|Pod/.test(what))).toEqual([
      'patch Node m',
      'create Pod on-m eviction',
      'delete Node m',
    ]);
    await bed.advance((HOLD_SECONDS - 60) * 1000);
    expect(stateOf(bed)).toContain('Machine Kept, no Node, instance');
    await bed.advance(90_000);
    expect([bed.machine(), bed.provider.instances.size, bed.grants.open.size]).toEqual([undefined, 0, 0]);
  });

  it('MAC-40 is never Stalled for being kept, nor when the time is over', async () => {
    const bed = await keptBed();
    const { deletion } = machine('m').spec;
    const short = { ...deletion, drainTimeoutSeconds: 60, timeoutSeconds: 120 };
    const { apiVersion = '', kind = '', spec } = bed.machine() ?? {};
    bed.apply({
      apiVersion,
      kind,
      metadata: { name: 'm', labels: LABELS },
      spec: { ...spec, deletion: short },
    });
    await bed.replace();
    const since = sinceOf(bed);
    await bed.advance((HOLD_SECONDS - 60) * 1000);
    expect([stalled(bed), sinceOf(bed)]).toEqual(['False', since]);
    bed.grants.deny = () => 'the kill switch is engaged';
    await bed.advance(60_000);
    expect(stalled(bed)).toBe('False');
  });

  it('MAC-40 is deleted at once when a person asks for it', async () => {
    const bed = await keptBed();
    await bed.replace();
    const { apiVersion = '', kind = '', spec } = bed.machine() ?? {};
    const metadata = { name: 'm', labels: LABELS, annotations: { 'kubenode.dev/delete': '' } };
    bed.apply({ apiVersion, kind, metadata, spec });
    await bed.advance(10_000);
    expect([bed.machine(), bed.provider.instances.size]).toEqual([undefined, 0]);
  });

  it('MAC-40 is not kept when another one of its set is', async () => {
    const bed = await keptBed(['m', 'n']);
    await bed.replace('m');
    await bed.replace('n');
    expect(stateOf(bed, 'm')).toContain('Machine Kept, no Node, instance');
    expect([bed.machine('n'), bed.provider.instances.size]).toEqual([undefined, 1]);
  });

  it('MAC-40 is deleted within minutes when another one of its set is found to be kept for longer', async () => {
    const bed = await keptBed(['m', 'n']);
    await bed.replace('m');
    const { apiVersion = '', kind = '' } = bed.machine('n') ?? {};
    const kept = { job: 'job-2', since: '2030-01-01T12:00:00Z', until: '2030-01-02T12:00:00Z', max: 1 };
    bed.apply({ apiVersion, kind, metadata: { name: 'n' }, status: { kept } }, 'status');
    await bed.replace('n');
    await bed.advance(300_000);
    expect(bed.machine('m')).toBeUndefined();
    expect(stateOf(bed, 'n')).toContain('Machine Kept, no Node, instance');
  });

  it('MAC-40 is one of two that are deleted at the same moment', async () => {
    const bed = await keptBed(['m', 'n']);
    bed.delete(MACHINES, 'm');
    bed.delete(MACHINES, 'n');
    await bed.advance(400_000);
    expect(bed.provider.instances.size).toBe(1);
  });

  it('MAC-40 ends in the same state after a crash at any write, and deletes the instance once', async () => {
    let kept = 0;
    for (const when of ['before', 'after'] as const) {
      for (let n = 1; n < 12; n += 1) {
        // oxlint-disable no-await-in-loop -- one scenario after the other
        const bed = await keptBed(['m'], { n, when });
        await bed.replace();
        await bed.start();
        await bed.advance(30_000);
        expect([n, when, stateOf(bed)]).toEqual([n, when, 'Machine Kept, no Node, instance, open grants 0']);
        kept += 1;
        await bed.advance((HOLD_SECONDS + 30) * 1000);
        expect([n, when, bed.machine(), bed.provider.instances.size]).toEqual([n, when, undefined, 0]);
        // oxlint-enable no-await-in-loop
      }
    }
    expect(kept).toBe(22);
  });
});

function stalled(bed: KeptBed): string | undefined {
  return bed.machine()?.status?.conditions.find(({ type }) => type === 'Stalled')?.status;
}

function sinceOf(bed: KeptBed): string | undefined {
  return bed.machine()?.status?.waiting?.since;
}
