import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { LABEL_AGENT_BLOCKED } from '../../../src/api/names.ts';
import { createMachineController } from '../../../src/controllers/machine/controller.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { conditionStatus } from '../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, valueAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { condition, DESIRED, machine, node, PREVIOUS } from '../../support/builders.ts';
import { type ControllerBed, createControllerBed, sweepCrashes } from '../../support/controller/bed.ts';
import { MACHINE_KINDS } from '../../support/controller/machine-kinds.ts';

const GRANT = { id: 'g-7', fence: 7, entryDigest: DESIRED.digest, notAfter: '2030-01-01T13:00:00Z' };
const STARTUP = { key: 'kubenode.dev/not-initialized', effect: 'NoSchedule' };

type Renewal = 'granted' | 'denied';
interface Options {
  readonly renewal?: Renewal;
  readonly objects?: readonly KubeObject[];
}

async function* noPages(): AsyncGenerator<never> {}

/** The Defender renews every grant, or none; the nodes have no pods. */
function optionsFor({
  renewal = 'granted',
  objects = [],
}: Options = {}): Parameters<typeof createControllerBed>[0] {
  const controller = createMachineController({
    client: { pages: noPages } as never,
    grants: {
      ask: async () => [],
      settle: async () => undefined,
      renew: async () => [
        renewal === 'granted'
          ? ({ granted: true } as never)
          : { granted: false, reason: 'QuietWindow', message: 'it is night', also: [] },
      ],
    },
  });
  return { controllers: [controller], kinds: MACHINE_KINDS, objects };
}

const spec = { node: { labels: { tier: 'web' }, taints: [{ key: 'gpu', effect: 'NoSchedule' }] } } as const;

function machineObject(parts: Partial<Machine['spec']> = {}): KubeObject {
  const { status: _, metadata, ...rest } = machine('m', { spec: { ...spec, components: [], ...parts } });
  return { ...rest, metadata: { name: metadata.name } };
}

function nodeObject(taints: readonly object[] = []): KubeObject {
  const { status: _, ...rest } = node('m');
  return { ...rest, spec: taints.length > 0 ? { taints } : {} };
}

function lease(renewTime: string, machineUid?: string): KubeObject {
  const owner = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', name: 'm', uid: machineUid ?? '' };
  const metadata = {
    name: 'm',
    namespace: 'kubenode-agents',
    ...(machineUid !== undefined && { ownerReferences: [owner] }),
  };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: { renewTime } };
}

/** The agent has installed its components, and renews its Lease. */
function report(bed: ControllerBed, components: readonly object[] = []): void {
  const conditions = [condition('ComponentsReady', 'True'), condition('UpToDate', 'True')];
  const status = { conditions, components };
  bed.apply(
    { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', metadata: { name: 'm' }, status },
    'status',
  );
}

function leaseName(name: string): object {
  return { metadata: { name, namespace: 'kubenode-agents' } };
}

function agentReady(found: Machine | undefined): string {
  return conditionStatus(found?.status?.conditions, 'AgentReady');
}

async function beat(bed: ControllerBed): Promise<void> {
  bed.apply(lease(bed.clock.now().toISOString()));
  await bed.advance(3000);
}

function taintsOn(bed: ControllerBed): readonly { readonly key?: string }[] {
  return listAt(bed.get(NODES, 'm'), 'spec', 'taints') as readonly { readonly key?: string }[];
}

function nodeIsReady(bed: ControllerBed): void {
  const status = { conditions: [condition('Ready', 'True')] };
  bed.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'm' }, status }, 'status');
}

function observedMachine(bed: ControllerBed): Machine | undefined {
  return bed.get<Machine>(MACHINES, 'm');
}

function explain(bed: ControllerBed): string {
  const { phase, waiting } = observedMachine(bed)?.status ?? {};
  return waiting ? `${phase}: ${waiting.reason}` : `${phase}`;
}

async function joined(options: Options = {}, taints: readonly object[] = []): Promise<ControllerBed> {
  const bed = createControllerBed(optionsFor({ objects: [machineObject(), nodeObject(taints)], ...options }));
  await bed.start();
  nodeIsReady(bed);
  report(bed);
  await beat(bed);
  await bed.advance(30_000);
  await beat(bed);
  return bed;
}

const reported = (state: string, digest = PREVIOUS.digest): object[] => [
  { name: 'kubelet', desiredRef: DESIRED.componentRef, digest, state },
];

describe('the machine controller', () => {
  it('copies the label of a blocked agent to its Lease, and takes it away again', async () => {
    const bed = await joined();
    const blocked = (value?: string): void =>
      bed.apply({
        ...machineObject(),
        metadata: { name: 'm', labels: value === undefined ? {} : { [LABEL_AGENT_BLOCKED]: value } },
      });
    const labels = (): unknown =>
      bed.api.objects.list({ resource: LEASES }, 'kubenode-agents')[0]?.metadata.labels;
    blocked('CertificateLost');
    await bed.advance(3000);
    expect(labels()).toEqual({ [LABEL_AGENT_BLOCKED]: 'CertificateLost' });
    blocked();
    await bed.advance(3000);
    expect(labels()).not.toHaveProperty([LABEL_AGENT_BLOCKED]);
  });

  it('waits for the agent, and names it', async () => {
    const bed = createControllerBed(optionsFor({ objects: [machineObject()] }));
    await bed.start();
    await bed.advance(3000);
    expect(explain(bed)).toBe('Importing: NoToken');
    bed.apply(lease('2030-01-01T12:00:01Z'));
    await bed.advance(3000);
    expect(explain(bed)).toContain('NotReported');
  });

  it('MAC-17 gives the Node its labels and taints, and the Machine becomes Ready', async () => {
    const bed = await joined();
    expect(explain(bed)).toBe('Ready');
    const found = bed.get(NODES, 'm');
    expect(found).toMatchObject({
      metadata: { labels: { tier: 'web', 'kubenode.dev/machine': 'm' } },
      spec: { taints: spec.node.taints },
    });
  });

  it('MAC-17 corrects a manual edit, and leaves labels of others', async () => {
    const bed = await joined();
    const metadata = {
      name: 'm',
      labels: { ...bed.get(NODES, 'm')?.metadata.labels, tier: 'db', team: 'a' },
    };
    bed.apply({ apiVersion: 'v1', kind: 'Node', metadata });
    await bed.advance(5000);
    expect(bed.get(NODES, 'm')?.metadata.labels).toMatchObject({ tier: 'web', team: 'a' });
  });

  it('MAC-18 removes the start-up taint only when all is there', async () => {
    const bed = createControllerBed(optionsFor({ objects: [machineObject(), nodeObject([STARTUP])] }));
    await bed.start();
    nodeIsReady(bed);
    await beat(bed);
    expect(JSON.stringify(bed.get(NODES, 'm'))).toContain(STARTUP.key);
    report(bed);
    await bed.advance(30_000);
    await beat(bed);
    expect([explain(bed), JSON.stringify(bed.get(NODES, 'm')).includes(STARTUP.key)]).toEqual([
      'Ready',
      false,
    ]);
  });

  it('notices an agent that falls silent, and one that returns', async () => {
    const bed = await joined();
    // No age grows without contact with the server: the next one is a bookmark.
    await bed.advance(130_000);
    expect(explain(bed)).toBe('Unreachable: AgentSilent');
    await beat(bed);
    expect(explain(bed)).toBe('Ready');
  });

  it('MAC-30 reports the silence of a whole fleet bit by bit, and none of agents that come back meanwhile', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `m-${index}`);
    const objects = names.map((name) => ({ ...machineObject(), metadata: { name } }));
    const bed = createControllerBed(optionsFor({ objects }));
    const beatAll = (): void => {
      for (const name of names) bed.apply({ ...lease(bed.clock.now().toISOString()), ...leaseName(name) });
    };
    await bed.start();
    beatAll();
    await bed.advance(20_000);
    beatAll();
    await bed.advance(20_000);
    const silent = (): number =>
      names.filter((name) => agentReady(bed.get<Machine>(MACHINES, name)) === 'Unknown').length;
    expect(silent()).toBe(0);
    const counts: number[] = [];
    // Until the next contact with the server, a bookmark, no age grows.
    for (let second = 0; second < 200 && silent() < 50; second += 1) {
      const before = silent();
      // oxlint-disable-next-line no-await-in-loop -- one second after the other
      await bed.advance(1000);
      if (silent() > before) counts.push(silent() - before);
    }
    beatAll();
    await bed.advance(30_000);
    // A status is written up to a second after it is decided.
    expect({ most: Math.max(...counts), mostLater: Math.max(...counts.slice(1)) <= 10 }).toEqual({
      most: 20,
      mostLater: true,
    });
    expect(counts.length).toBeGreaterThanOrEqual(6);
    expect(silent()).toBe(0);
  });

  it('is Ready soon after the second heartbeat of an agent that was there before the controllers', async () => {
    const bed = createControllerBed(optionsFor({ objects: [machineObject(), nodeObject()] }));
    bed.apply(lease(bed.clock.now().toISOString()));
    nodeIsReady(bed);
    report(bed);
    await bed.start();
    await bed.advance(8000);
    expect(explain(bed)).toBe('Unreachable: AgentSilent');
    await beat(bed);
    await bed.advance(10_000);
    expect(explain(bed)).toBe('Ready');
  });

  it('takes no heartbeat of a Machine that had the name before for one of its own', async () => {
    const bed = createControllerBed(optionsFor({ objects: [machineObject(), nodeObject()] }));
    const beatOf = async (machineUid: string): Promise<void> => {
      bed.apply(lease(bed.clock.now().toISOString(), machineUid));
      await bed.advance(3000);
    };
    await beatOf('former');
    nodeIsReady(bed);
    report(bed);
    await bed.start();
    await bed.advance(8000);
    await beatOf('former');
    await bed.advance(10_000);
    expect([agentReady(observedMachine(bed)), explain(bed)]).toEqual(['False', 'Importing: NoToken']);
    await beatOf(observedMachine(bed)?.metadata.uid ?? '');
    expect([agentReady(observedMachine(bed)), explain(bed)]).toEqual(['True', 'Ready']);
  });

  it('writes nothing for the heartbeats of an agent', async () => {
    const bed = await joined();
    bed.writes();
    for (let beats = 0; beats < 6; beats += 1) {
      bed.apply(lease(bed.clock.now().toISOString()));
      // oxlint-disable-next-line no-await-in-loop -- one heartbeat after the other
      await bed.advance(10_000);
    }
    expect([bed.writes(), explain(bed)]).toEqual([[], 'Ready']);
  });

  it('writes nothing to the Node of a machine that is held', async () => {
    const held = machineObject({ hold: { reason: 'forensics', scope: 'All' } });
    const bed = await joined({ objects: [held, nodeObject()] });
    expect(bed.writes().filter((what) => what.includes('Node'))).toEqual([]);
  });

  describe('drain', () => {
    const entry = { ...DESIRED, state: 'Present', parameters: {}, grant: GRANT };
    const objects = [machineObject({ components: [entry] as Machine['spec']['components'] }), nodeObject()];
    const waiting = async (options: Options = {}): Promise<ControllerBed> => {
      const bed = await joined({ objects, ...options });
      report(bed, reported('WaitingForDrain'));
      await bed.advance(10_000);
      return bed;
    };

    it('ROL-35 cordons for the grant, drains, and uncordons when the component is committed', async () => {
      const bed = await waiting();
      expect(bed.get(NODES, 'm')).toMatchObject({
        metadata: { annotations: { 'kubenode.dev/cordoned-by': 'g-7' } },
        spec: { unschedulable: true },
      });
      expect(observedMachine(bed)?.status?.drain).toMatchObject({ grant: 'g-7', state: 'Drained' });
      report(bed, reported('Committed', DESIRED.digest));
      await bed.advance(10_000);
      expect(bed.get(NODES, 'm')?.metadata.annotations).not.toHaveProperty('kubenode.dev/cordoned-by');
      expect(bed.get(NODES, 'm')?.['spec']).not.toHaveProperty('unschedulable');
      expect(observedMachine(bed)?.status?.drain).toBeUndefined();
    });

    it('R23 shows other tools by a taint that it works on the Node, and stays in sync with it', async () => {
      const bed = await waiting();
      expect(taintsOn(bed)).toContainEqual({
        key: 'kubenode.dev/maintenance',
        effect: 'PreferNoSchedule',
      });
      expect(conditionStatus(observedMachine(bed)?.status?.conditions, 'NodeSynced')).toBe('True');
      report(bed, reported('Committed', DESIRED.digest));
      await bed.advance(10_000);
      expect(taintsOn(bed)).toEqual([{ key: 'gpu', effect: 'NoSchedule' }]);
    });

    it('never cordons when the grant is not renewed', async () => {
      const bed = await waiting({ renewal: 'denied' });
      expect(bed.get(NODES, 'm')?.['spec']).not.toHaveProperty('unschedulable');
      expect(observedMachine(bed)?.status?.waiting).toMatchObject({
        reason: 'GrantDenied',
        message: 'QuietWindow: it is night',
      });
    });

    it('ROL-35 keeps the cordon of a person', async () => {
      const bed = await joined({ objects });
      bed.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'm' }, spec: { unschedulable: true } });
      report(bed, reported('WaitingForDrain'));
      await bed.advance(10_000);
      expect(observedMachine(bed)?.status?.drain?.state).toBe('Drained');
      report(bed, reported('Committed', DESIRED.digest));
      await bed.advance(10_000);
      expect(bed.get(NODES, 'm')?.['spec']).toMatchObject({ unschedulable: true });
    });

    it('MAC-06 leaves no node cordoned when it is killed at any write of a drain', async () => {
      for (let n = 1; n < 8; n += 1) {
        for (const when of ['before', 'after'] as const) {
          // oxlint-disable no-await-in-loop -- one scenario after the other
          const bed = createControllerBed(optionsFor({ objects }));
          nodeIsReady(bed);
          report(bed, reported('WaitingForDrain'));
          const first = await bed.start({ n, when });
          await bed.advance(15_000);
          await first.kill();
          report(bed, reported('Committed', DESIRED.digest));
          await bed.start();
          await bed.advance(20_000);
          const found = bed.get(NODES, 'm');
          const cordon = [
            found?.metadata.annotations?.['kubenode.dev/cordoned-by'],
            valueAt(found, 'spec', 'unschedulable'),
            taintsOn(bed).find(({ key }) => key === 'kubenode.dev/maintenance'),
          ];
          expect([n, when, ...cordon]).toEqual([n, when, undefined, undefined, undefined]);
          // oxlint-enable no-await-in-loop
        }
      }
    });
  });

  it('MAC-06 ends in the same state when it is killed at any write, before or after it', async () => {
    const points = await sweepCrashes(
      optionsFor({ objects: [machineObject(), nodeObject()] }),
      (bed, crash) => {
        expect([crash, bed.get(NODES, 'm')?.metadata.labels?.['tier']]).toEqual([crash, 'web']);
      },
    );
    expect(points).toBeGreaterThan(1);
  });
});
