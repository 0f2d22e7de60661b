import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { createMachineController } from '../../../../src/controllers/machine/controller.ts';
import { NODES } from '../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../../src/kube/objects/object.ts';
import { ApiRefusal } from '../../../../src/sim/api-server/refusal.ts';
import { machine, node } from '../../../support/builders.ts';
import { type BedCrash, type ControllerBed, createControllerBed } from '../../../support/controller/bed.ts';
import { MACHINE_KINDS } from '../../../support/controller/machine-kinds.ts';
import { budget, drainPod } from '../../../support/kube/drain-bed.ts';
import { ledgerOf, type MemoryGrants, memoryGrants } from '../../../support/memory-grants.ts';

const HELD_BACK = new ApiRefusal(429, 'TooManyRequests', 'it would violate the budget', [
  { reason: 'DisruptionBudget', message: 'The disruption budget web needs 1 healthy pods and has 1' },
]);

const SHORT = { ...machine('m').spec.deletion, drainTimeoutSeconds: 60, timeoutSeconds: 120 };

interface DeletionBed extends ControllerBed {
  readonly grants: MemoryGrants;
  readonly remove: () => Promise<void>;
  readonly machine: () => Machine | undefined;
  readonly node: () => KubeObject | undefined;
}

interface Parts {
  readonly spec?: Partial<Machine['spec']>;
  readonly pods?: readonly KubeObject[];
  readonly node?: KubeObject | null;
  readonly crash?: BedCrash;
}

/** A machine with a Node that was observed, and its pods. */
async function deletionBed({
  spec = {},
  pods = [],
  node: its = node('m'),
  crash,
}: Parts = {}): Promise<DeletionBed> {
  const grants = memoryGrants({ now: () => bed.clock.now() });
  const { status: _, metadata, ...rest } = machine('m', { spec: { components: [], ...spec } });
  const objects = [{ ...rest, metadata: { name: metadata.name } }, budget('web', {}), ...pods];
  const bed: ControllerBed = createControllerBed({
    controllers: [createMachineController({ client: { pages } as never, grants })],
    kinds: MACHINE_KINDS,
    objects,
  });
  grants.changed = (ledger) => bed.apply(ledgerOf(ledger));
  if (its) {
    bed.apply({ ...its, status: undefined });
    bed.apply({ ...its, metadata: { name: 'm' }, spec: undefined }, 'status');
  }
  await bed.start(crash);
  await bed.advance(3000);
  bed.writes();
  return {
    ...bed,
    grants,
    machine: () => bed.get<Machine>(MACHINES, 'm'),
    node: () => bed.get(NODES, 'm'),
    remove: async () => {
      bed.delete(MACHINES, 'm');
      await bed.advance(3000);
    },
  };

  async function* pages(resource: Resource): AsyncGenerator<{ items: readonly KubeObject[] }> {
    yield { items: bed.api.objects.list({ resource }, undefined) };
  }
}

function waiting(bed: DeletionBed): string {
  const { reason, message, blocker } = bed.machine()?.status?.waiting ?? {};
  return `${reason} ${blocker ? `${blocker.kind}/${blocker.name}` : '-'}: ${message}`;
}

/** Its UID comes from the server. */
function pod(name: string): KubeObject {
  const { metadata, ...rest } = drainPod(name, { nodeName: 'm' });
  return { ...rest, metadata: { name, namespace: metadata.namespace ?? '' } };
}

describe('the deletion of a machine', () => {
  it('has the finalizer before anything is written for the machine', async () => {
    const bed = await deletionBed();
    const first = bed.api.journal.find(({ what }) => !/ (Lease|Event) /.test(what));
    expect([first?.what, bed.machine()?.metadata.finalizers]).toEqual([
      'patch Machine m',
      ['kubenode.dev/machine'],
    ]);
  });

  it('MAC-31 asks, cordons, evicts, deletes the Node, settles the grant, and then lets the Machine go', async () => {
    const bed = await deletionBed({ pods: [pod('a'), pod('b')] });
    bed.delete(MACHINES, 'm');
    await bed.advance(15_000);
    expect([bed.machine(), bed.node(), bed.grants.settled]).toEqual([
      undefined,
      undefined,
      ['g-1 DeleteMachine m: Succeeded'],
    ]);
    const acts = bed.writes().filter((what) => !what.includes('status'));
    expect(acts).toEqual([
      'patch Node m',
      'create Pod a eviction',
      'create Pod b eviction',
      'delete Node m',
      'patch Machine m',
    ]);
  });

  it('MAC-31 does nothing to the Node while the grant is denied, and reports why', async () => {
    const bed = await deletionBed({ pods: [pod('a')] });
    bed.grants.deny = () => 'the kill switch is engaged';
    await bed.remove();
    expect(waiting(bed)).toBe('GrantDenied DefenderLedger/default: KillSwitch: the kill switch is engaged');
    expect(bed.machine()?.status?.phase).toBe('Deleting');
    expect(bed.writes().filter((what) => !what.includes('status'))).toEqual([]);
    bed.grants.deny = () => undefined;
    await bed.advance(20_000);
    expect(bed.machine()).toBeUndefined();
  });

  it('uses the grant that its set has, and asks for no other', async () => {
    const bed = await deletionBed();
    const nodeUID = bed.node()?.metadata.uid ?? '';
    const ask = { machine: 'm', nodeUID, action: 'DeleteMachine', risk: 'Machine' } as const;
    const set = { kind: 'MachineSet', name: 'general' } as const;
    await bed.grants.ask([{ ...ask, holder: set, factsAt: bed.clock.now(), expectedSeconds: 60 }]);
    await bed.remove();
    await bed.advance(10_000);
    expect([bed.machine(), bed.grants.settled]).toEqual([undefined, ['g-1 DeleteMachine m: Succeeded']]);
  });

  it('waits for a PodDisruptionBudget, names it, and is Stalled after the time of a drain', async () => {
    const bed = await deletionBed({ pods: [pod('a')], spec: { deletion: SHORT } });
    for (let times = 0; times < 50; times += 1) bed.api.refuse(/create Pod a eviction/, HELD_BACK);
    await bed.remove();
    expect(waiting(bed)).toMatch(/^PodDisruptionBudget PodDisruptionBudget\/web: 1 pods left: 1 wait for/);
    await bed.advance(70_000);
    const stalled = bed.machine()?.status?.conditions.find(({ type }) => type === 'Stalled');
    expect([stalled?.status, stalled?.reason, bed.node() === undefined]).toEqual([
      'True',
      'PodDisruptionBudget',
      false,
    ]);
  });

  it('MAC-31 never deletes a Node when the grant is not renewed', async () => {
    const bed = await deletionBed({ spec: { deletion: { ...SHORT, drain: 'Skip' } } });
    const { renew } = bed.grants;
    const denial = { granted: false, reason: 'QuietWindow', message: 'it is night', also: [] } as const;
    Object.assign(bed.grants, { renew: async () => [denial] });
    await bed.remove();
    expect([waiting(bed), bed.node() === undefined]).toEqual([
      'GrantDenied DefenderLedger/default: QuietWindow: it is night',
      false,
    ]);
    Object.assign(bed.grants, { renew });
    await bed.advance(20_000);
    expect([bed.machine(), bed.node()]).toEqual([undefined, undefined]);
  });

  it('MAC-31 deletes the Node of an instance that does not exist any more, though its zone is dark for that', async () => {
    const bed = await deletionBed({ spec: { deletion: { ...SHORT, drain: 'Skip' } } });
    const denial = { granted: false, reason: 'ZoneDark', message: 'zone a is dark', also: [] } as const;
    Object.assign(bed.grants, { renew: async () => [denial] });
    await bed.remove();
    expect(waiting(bed)).toBe('GrantDenied DefenderLedger/default: ZoneDark: zone a is dark');
    const { apiVersion = '', kind = '' } = bed.machine() ?? {};
    bed.apply({ apiVersion, kind, metadata: { name: 'm' }, status: { infra: { state: 'Gone' } } }, 'status');
    await bed.advance(20_000);
    expect([bed.machine(), bed.node(), bed.grants.settled]).toEqual([
      undefined,
      undefined,
      ['g-1 DeleteMachine m: Succeeded'],
    ]);
  });

  it('MAC-20 reports pods that it leaves on a host that does not answer', async () => {
    const bed = await deletionBed({
      pods: [pod('a')],
      node: node('m', 'Unknown'),
      spec: { deletion: SHORT },
    });
    await bed.remove();
    expect(waiting(bed)).toContain('KubeletSilent');
    await bed.advance(130_000);
    const notes = bed.api.journal.filter(({ what }) => what.includes(' Event '));
    expect([bed.machine(), bed.node(), JSON.stringify(notes).includes('MachineCleanupIncomplete')]).toEqual([
      undefined,
      undefined,
      true,
    ]);
  });

  it('never acts on a machine that a person holds', async () => {
    const bed = await deletionBed({
      pods: [pod('a')],
      spec: { hold: { reason: 'forensics', scope: 'Disruptive' } },
    });
    await bed.remove();
    expect(waiting(bed)).toBe('HeldDisruptive Machine/m: the machine is held');
    expect([bed.grants.open.size, bed.writes().filter((what) => !what.includes('status'))]).toEqual([0, []]);
  });

  it('deletes a machine without a Node after its grant', async () => {
    const bed = await deletionBed({ node: null });
    await bed.remove();
    expect([bed.machine(), bed.grants.settled, bed.writes()]).toEqual([
      undefined,
      ['g-1 DeleteMachine m: Succeeded'],
      ['patch Machine m'],
    ]);
  });

  it('leaves a Node that took the name of its own', async () => {
    const bed = await deletionBed();
    bed.grants.deny = () => 'the kill switch is engaged';
    await bed.remove();
    bed.delete(NODES, 'm');
    bed.apply({ ...node('m'), status: undefined });
    await bed.advance(3000);
    bed.grants.deny = () => undefined;
    bed.writes();
    await bed.advance(20_000);
    expect([bed.machine(), bed.node()?.metadata.name]).toEqual([undefined, 'm']);
    expect(bed.writes().filter((what) => what.includes('Node'))).toEqual([]);
  });

  it('names a Node that finalizers of others keep', async () => {
    const bed = await deletionBed({ node: node('m', 'True', { finalizers: ['example.com/disk'] }) });
    await bed.remove();
    expect(waiting(bed)).toBe('NodeDeleting Node/m: Node m is being deleted: finalizers keep it');
  });

  describe('after a crash', () => {
    it('MAC-06 ends in the same state from any write of it, before or after it arrived', async () => {
      let points = 0;
      for (const when of ['before', 'after'] as const) {
        for (let n = 3; n < 20; n += 1) {
          // oxlint-disable no-await-in-loop -- one scenario after the other
          const bed = await deletionBed({ pods: [pod('a')], crash: { n, when } });
          await bed.remove();
          await bed.advance(12_000);
          if (bed.machine()) points += 1;
          await bed.start();
          await bed.advance(30_000);
          expect([n, when, end(bed)]).toEqual([n, when, [undefined, undefined, 0]]);
          // oxlint-enable no-await-in-loop
        }
      }
      expect(points).toBeGreaterThan(8);
    });

    it('MAC-06 ends in the same state when the Defender fails at any of its answers', async () => {
      for (const when of ['before', 'after'] as const) {
        for (let n = 1; n < 7; n += 1) {
          // oxlint-disable no-await-in-loop -- one scenario after the other
          const bed = await deletionBed({ pods: [pod('a')] });
          failAt(bed.grants, n, when);
          await bed.remove();
          await bed.advance(60_000);
          expect([n, when, end(bed)]).toEqual([n, when, [undefined, undefined, 0]]);
          // oxlint-enable no-await-in-loop
        }
      }
    });

    it('asks for no second grant when only the finalizer is left and the Defender denies', async () => {
      const bed = await deletionBed();
      bed.api.refuse(/patch Machine m/, new ApiRefusal(500, 'InternalError', 'etcd is slow'));
      const { settle } = bed.grants;
      Object.assign(bed.grants, {
        settle: async (...all: Parameters<typeof settle>) => {
          await settle(...all);
          bed.grants.deny = () => 'the kill switch is engaged';
        },
      });
      await bed.remove();
      await bed.advance(20_000);
      expect([bed.machine(), bed.grants.settled.length]).toEqual([undefined, 1]);
    });
  });
});

function end(bed: DeletionBed): unknown {
  return [bed.machine(), bed.node(), bed.grants.open.size];
}

function failAt(grants: MemoryGrants, n: number, when: 'before' | 'after'): void {
  let left = n;
  for (const verb of ['ask', 'renew', 'settle'] as const) {
    const call = grants[verb] as (list: readonly never[]) => Promise<unknown>;
    Object.assign(grants, {
      [verb]: async (list: readonly never[]) => {
        left -= 1;
        if (left === 0 && when === 'before') throw new Error('the ledger was not written');
        const answer = await call(list);
        if (left === 0) throw new Error('the answer was lost');
        return answer;
      },
    });
  }
}
