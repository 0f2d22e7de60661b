import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { createMachineController } from '../../../../src/controllers/machine/controller.ts';
import { createInstances } from '../../../../src/controllers/machine/instance/execute.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import { conditionOf } from '../../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import type { ProviderCapabilities } from '../../../../src/providers/contract.ts';
import type { OpenProviders } from '../../../../src/providers/registry.ts';
import { condition, machine, node } from '../../../support/builders.ts';
import { type ControllerBed, createControllerBed, sweepCrashes } from '../../../support/controller/bed.ts';
import { MACHINE_KINDS } from '../../../support/controller/machine-kinds.ts';
import { type MemoryGrants, memoryGrants } from '../../../support/memory-grants.ts';
import { type MemoryProvider, memoryProvider } from '../../../support/memory-provider.ts';
import { randomFrom, SEED } from '../../../support/sweep-size.ts';

const SECRET = 'abcdef.0123456789abcdef';

interface InstanceBed extends ControllerBed {
  readonly provider: MemoryProvider;
  readonly grants: MemoryGrants;
  readonly tokens: string[];
  readonly machine: (name?: string) => Machine | undefined;
  /** Nodes that the API server has, and no view shows yet. */
  readonly unseen: Map<string, KubeObject>;
}

function declared(name: string, spec: Partial<Machine['spec']> = {}): KubeObject {
  const infra = { provider: 'local', config: { type: 'sandbox' } } as const;
  const { status: _, metadata, ...rest } = machine(name, { spec: { components: [], infra, ...spec } });
  return { ...rest, metadata: { name: metadata.name } };
}

async function* pages(): AsyncGenerator<never> {}

function optionsFor(
  objects: readonly KubeObject[],
  isRun = true,
  others: OpenProviders = {},
): Parameters<typeof createControllerBed>[0] & {
  provider: MemoryProvider;
  tokens: string[];
  unseen: Map<string, KubeObject>;
  grants: MemoryGrants;
  follow: (bed: ControllerBed) => void;
} {
  let current: ControllerBed | undefined;
  const now = (): Date => current?.clock.now() ?? new Date('2030-01-01T12:00:00Z');
  const provider = memoryProvider(now);
  const tokens: string[] = [];
  const unseen = new Map<string, KubeObject>();
  const grants = memoryGrants({ now });
  const controller = createMachineController({
    client: {
      pages,
      get: async (_: unknown, { name }: { readonly name: string }) => {
        const found = unseen.get(name) ?? current?.get(NODES, name);
        if (!found) throw new KubeError('NotFound', 'it was not found');
        return found;
      },
    } as never,
    grants,
    instances: {
      providers: isRun ? { local: provider, ...others } : others,
      clusterUid: 'c',
      async createBootstrap(name) {
        tokens.push(name);
        return { text: `${SECRET} ${tokens.length}`, expiresAt: new Date(now().getTime() + 900_000) };
      },
    },
  });
  const follow = (bed: ControllerBed): void => {
    current = bed;
    grants.changed = (ledger) =>
      bed.apply({
        apiVersion: 'kubenode.dev/v1alpha1',
        kind: 'DefenderLedger',
        metadata: { name: 'default' },
        spec: ledger,
      });
  };
  return {
    controllers: [controller],
    kinds: MACHINE_KINDS,
    objects,
    provider,
    tokens,
    unseen,
    grants,
    follow,
  };
}

async function open(
  spec: Partial<Machine['spec']> = {},
  isRun = true,
  others: OpenProviders = {},
): Promise<InstanceBed> {
  const options = optionsFor([declared('m', spec)], isRun, others);
  const bed = createControllerBed(options);
  options.follow(bed);
  const { provider, tokens, unseen, grants } = options;
  return {
    ...bed,
    provider,
    grants,
    tokens,
    unseen,
    machine: (name = 'm') => bed.get<Machine>(MACHINES, name),
  };
}

function ready(bed: InstanceBed): string {
  const found = conditionOf(bed.machine()?.status?.conditions, 'InfraReady');
  return `${found?.status} ${found?.reason}`;
}

/** Of a machine whose agent is alive, and that is reconciled every ten seconds. */
async function readsInTwoHours(capabilities: Partial<ProviderCapabilities>): Promise<number> {
  let seconds = 0;
  const now = (): Date => new Date(Date.UTC(2030, 0, 1) + seconds * 1000);
  const memory = memoryProvider(now);
  const provider = { ...memory, capabilities: { ...memory.capabilities, ...capabilities } };
  const object = machine('m', {
    spec: { infra: { provider: 'local', config: { type: 'sandbox' } } },
    status: { conditions: [condition('AgentReady', 'True')] },
  });
  const request = {
    machine: 'm',
    tags: { clusterUid: 'c', machineUid: 'u' },
    config: {},
    host: 'sandbox',
  } as const;
  const providerID = await memory.create(request, new AbortController().signal);
  const joined = {
    ...object,
    status: { ...object.status, conditions: object.status?.conditions ?? [], infra: { providerID } },
  };
  const instances = createInstances({
    providers: { local: provider },
    clusterUid: 'c',
    createBootstrap: () => Promise.reject(new Error('not needed')),
  });
  const context = { clock: { now }, signal: new AbortController().signal } as never;
  for (; seconds < 7200; seconds += 10) {
    await instances.ensure({ machine: joined, node: undefined, hasJoined: true }, context);
  }
  return memory.calls.filter((call) => call === 'get').length;
}

describe('the instance of a Machine', () => {
  it('is created once with the UID as token, and its id is recorded', async () => {
    const bed = await open();
    await bed.start();
    await bed.advance(30_000);
    const { uid } = bed.machine()?.metadata ?? {};
    expect(bed.provider.calls.filter((call) => call.startsWith('create'))).toEqual(['create m']);
    expect(bed.provider.created[0]).toMatchObject({
      machine: 'm',
      tags: { clusterUid: 'c', machineUid: uid },
    });
    expect(bed.machine()?.status?.infra).toMatchObject({ providerID: `local:///${uid}`, state: 'Running' });
    expect(ready(bed)).toBe('True AsWanted');
  });

  it('R26 is the hardware of its Machine, by a label that keeps the value of a person', async () => {
    const bed = await open();
    await bed.start();
    await bed.advance(30_000);
    const label = (): string | undefined => bed.machine()?.metadata.labels?.['kubenode.dev/hardware'];
    expect(label()).toMatch(/^[0-9a-f]{16}$/);
    const metadata = { name: 'm', labels: { 'kubenode.dev/hardware': 'asset-77' } };
    bed.apply({ apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', metadata });
    await bed.advance(30_000);
    expect(label()).toBe('asset-77');
  });

  it('is asked for at once when the spec changes after a refusal, and before only when its time is over', async () => {
    const bed = await open();
    const creates = (): number => bed.provider.calls.filter((call) => call.startsWith('create')).length;
    bed.provider.fault = (call) => (call.startsWith('create') ? 'Terminal' : undefined);
    await bed.start();
    await bed.advance(5000);
    const { apiVersion = '', kind = '', spec } = bed.machine() ?? {};
    const metadata = { name: 'm', annotations: { changed: '' } };
    bed.apply({ apiVersion, kind, metadata, spec });
    await bed.advance(5000);
    expect(creates()).toBe(1);
    bed.apply({ apiVersion, kind, metadata, spec: { ...spec, bmc: undefined, zone: 'z' } });
    await bed.advance(5000);
    expect(creates()).toBe(2);
  });

  it('is searched for before each creation, and created only with the finalizer', async () => {
    const bed = await open();
    await bed.start();
    await bed.advance(5000);
    expect(bed.provider.calls.slice(0, 2)).toEqual(['find', 'create m']);
    expect(bed.machine()?.metadata.finalizers).toEqual(['kubenode.dev/machine']);
  });

  it('is found again when the answer to its creation was lost', async () => {
    const bed = await open();
    let lost = 0;
    bed.provider.fault = (call) =>
      call.startsWith('create') && (lost += 1) === 1 ? 'AmbiguousAfter' : undefined;
    await bed.start();
    await bed.advance(30_000);
    expect(bed.provider.calls.slice(0, 3)).toEqual(['find', 'create m -> AmbiguousAfter', 'find']);
    expect(bed.provider.calls.filter((call) => call.startsWith('create'))).toHaveLength(1);
    expect(ready(bed)).toBe('True AsWanted');
  });

  it('is not chosen from two that have the UID of its Machine, and no third is created', async () => {
    const bed = await open();
    const now = new Date('2030-01-01T12:00:00Z');
    bed.provider.fault = (call) => {
      const { uid: machineUid = '' } = bed.machine()?.metadata ?? {};
      const tags = { clusterUid: 'c', machineUid };
      for (const id of ['local:///1', 'local:///2']) {
        bed.provider.instances.set(id, {
          id,
          machine: 'm',
          tags,
          state: 'Running',
          addresses: [],
          createdAt: now,
        });
      }
      return call.startsWith('create') ? 'Terminal' : undefined;
    };
    await bed.start();
    await bed.advance(5000);
    expect([ready(bed), bed.provider.created]).toEqual(['Unknown DuplicateInstances', []]);
    expect(conditionOf(bed.machine()?.status?.conditions, 'InfraReady')?.message).toContain(
      'local:///1, local:///2',
    );
  });

  it('is read once an hour while its agent is alive, where the provider counts requests', async () => {
    expect(await readsInTwoHours({ countsRequests: true })).toBe(2);
    expect(await readsInTwoHours({})).toBe(720);
  });

  it('is created later while there is no quota, with the same token, and reports why', async () => {
    const bed = await open();
    bed.provider.fault = (call) => (call.startsWith('create') ? 'Quota' : undefined);
    await bed.start();
    await bed.advance(15_000);
    expect([ready(bed), bed.machine()?.status?.waiting?.reason]).toEqual(['Unknown Quota', 'Quota']);
    bed.provider.fault = () => undefined;
    await bed.advance(11_000);
    expect([ready(bed), bed.tokens]).toEqual(['True AsWanted', ['m']]);
  });

  it('waits as long as a provider asks for', async () => {
    const bed = await open();
    bed.provider.fault = () => 'Throttled';
    await bed.start();
    await bed.advance(6500);
    const before = bed.provider.calls.length;
    await bed.advance(2000);
    expect([before, bed.provider.calls.length]).toEqual([1, 2]);
  });

  it('is started again when it stopped, also after the host joined', async () => {
    const bed = await open();
    await bed.start();
    await bed.advance(5000);
    const [id = ''] = bed.provider.instances.keys();
    bed.provider.setState(id, 'Stopped');
    await bed.advance(15_000);
    expect(bed.provider.instances.get(id)?.state).toBe('Running');
    expect(bed.provider.calls.filter((call) => call === 'power on')).toHaveLength(1);
  });

  it('is reported as missing when somebody deleted it, and not created again', async () => {
    const bed = await open();
    await bed.start();
    await bed.advance(5000);
    bed.provider.instances.clear();
    await bed.advance(120_000);
    expect([ready(bed), bed.machine()?.status?.infra?.state]).toEqual(['False InstanceMissing', 'Gone']);
    expect(bed.provider.created).toHaveLength(1);
  });

  it('gets another token when the first one ended before the host joined', async () => {
    const bed = await open();
    await bed.start();
    await bed.advance(5000);
    await bed.advance(65_000);
    // The fake makes no record of its tokens, so that each seems to have ended after a minute.
    expect(bed.provider.created.length).toBe(2);
    expect(bed.provider.instances.size).toBe(1);
  });

  it.each<[name: string, spec: Partial<Machine['spec']>, want: string]>([
    ['an invalid config', { infra: { provider: 'local', config: { type: 'bad' } } }, 'False InvalidConfig'],
    ['a host that joins by itself', { infra: { provider: 'local', config: {} } }, 'True HostJoins'],
    [
      'an instance of another system',
      {
        infra: { provider: 'clusterapi', config: { namespace: 'n', name: 'm', providerID: 'i://1' } },
      },
      'True Followed',
    ],
    [
      'a machine that follows nothing',
      { infra: { provider: 'clusterapi', config: {} } },
      'False InvalidConfig',
    ],
    ['a hold of everything', { hold: { reason: 'x', scope: 'All' } }, 'False NotCreated'],
  ])('is not created for %s', async (_, spec, want) => {
    const bed = await open(spec);
    await bed.start();
    await bed.advance(15_000);
    expect([ready(bed), bed.provider.created, bed.tokens]).toEqual([want, [], []]);
  });

  it('is not created by a process without the provider, which reports it', async () => {
    const bed = await open({}, false);
    await bed.start();
    await bed.advance(15_000);
    expect(ready(bed)).toBe('False ProviderMissing');
  });

  it('comes from the provider that its spec names, of all that are open', async () => {
    const ssh = memoryProvider(() => new Date('2030-01-01T12:00:00Z'));
    const bed = await open({ infra: { provider: 'ssh', config: { type: 'sandbox' } } }, true, { ssh });
    await bed.start();
    await bed.advance(15_000);
    expect([ssh.created.length, bed.provider.created, ready(bed)]).toEqual([1, [], 'True AsWanted']);
  });

  it('is deleted before its Machine ends', async () => {
    const bed = await open();
    await bed.start();
    await bed.advance(5000);
    bed.provider.fault = (call) => (call === 'delete' ? 'RetryableBefore' : undefined);
    bed.delete(MACHINES, 'm');
    await bed.advance(20_000);
    expect([bed.machine()?.status?.waiting?.reason, bed.provider.instances.size]).toEqual(['Retryable', 1]);
    bed.provider.fault = () => undefined;
    await bed.advance(20_000);
    expect([bed.machine(), bed.provider.instances.size]).toEqual([undefined, 0]);
  });

  it('MAC-31 is not deleted while the grant is not renewed, which may have ended since it was observed', async () => {
    const bed = await open();
    await bed.start();
    await bed.advance(5000);
    const { renew } = bed.grants;
    const denial = { granted: false, reason: 'QuietWindow', message: 'it is night', also: [] } as const;
    Object.assign(bed.grants, { renew: async () => [denial] });
    bed.delete(MACHINES, 'm');
    await bed.advance(20_000);
    expect([bed.machine()?.status?.waiting?.reason, bed.provider.instances.size]).toEqual(['GrantDenied', 1]);
    Object.assign(bed.grants, { renew });
    await bed.advance(20_000);
    expect([bed.machine(), bed.provider.instances.size]).toEqual([undefined, 0]);
  });

  it('is deleted, too, when its id was never recorded', async () => {
    const bed = await open();
    bed.provider.fault = (call) =>
      call.startsWith('create')
        ? 'AmbiguousAfter'
        : call === 'find' &&
            bed.provider.instances.size > 0 &&
            bed.machine()?.metadata.deletionTimestamp === undefined
          ? 'RetryableBefore'
          : undefined;
    await bed.start();
    await bed.advance(10_000);
    expect([bed.provider.instances.size, bed.machine()?.status?.infra]).toEqual([1, undefined]);
    bed.delete(MACHINES, 'm');
    await bed.advance(30_000);
    expect([bed.machine(), bed.provider.instances.size]).toEqual([undefined, 0]);
  });

  it('shows its token nowhere', async () => {
    const bed = await open();
    bed.provider.fault = (call) => (call.startsWith('create') ? 'Terminal' : undefined);
    await bed.start();
    await bed.advance(130_000);
    expect(ready(bed)).toBe('Unknown ImageMissing');
    expect(JSON.stringify([bed.machine(), bed.log.lines, bed.writes()])).not.toContain(SECRET);
  });

  it('MAC-06 leaves no Node that its kubelet registered before a view shows it', async () => {
    const bed = await open();
    await bed.start();
    await bed.advance(30_000);
    const creationTimestamp = bed.clock.now().toISOString();
    bed.unseen.set('m', node('m', 'True', { creationTimestamp }));
    bed.delete(MACHINES, 'm');
    await bed.advance(30_000);
    expect([bed.machine()?.metadata.name, bed.provider.instances.size]).toEqual(['m', 0]);
    bed.unseen.clear();
    bed.apply({ ...node('m'), status: undefined });
    await bed.advance(30_000);
    expect([bed.machine(), bed.get(NODES, 'm')]).toEqual([undefined, undefined]);
  });

  it('MAC-06 is created once, whichever write the process was killed at', async () => {
    const options = optionsFor([declared('m')]);
    const writes = await sweepCrashes(options, (bed, crash) => {
      const { uid } = bed.get<Machine>(MACHINES, 'm')?.metadata ?? {};
      const providerID = bed.get<Machine>(MACHINES, 'm')?.status?.infra?.providerID;
      expect([crash, providerID]).toEqual([crash, `local:///${uid}`]);
      expect([...options.provider.instances.keys()]).toEqual([`local:///${uid}`]);
    });
    expect(writes).toBeGreaterThan(1);
  });

  it('MAC-30 exists exactly once for each of 30 Machines, whatever the provider answers, and none stays', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `m-${index}`);
    const options = optionsFor(names.map((name) => declared(name)));
    const bed = createControllerBed(options);
    options.follow(bed);
    const { provider } = options;
    const random = randomFrom(SEED);
    provider.fault = () => {
      const drawn = random();
      if (drawn < 0.05) return 'RetryableBefore';
      if (drawn < 0.15) return 'AmbiguousAfter';
      return drawn < 0.2 ? 'Throttled' : undefined;
    };
    await bed.start();
    await bed.advance(60_000);
    expect(provider.instances.size).toBe(30);
    expect(
      names.filter((name) => bed.get<Machine>(MACHINES, name)?.status?.infra?.state !== 'Running'),
    ).toEqual([]);
    for (const name of names) bed.delete(MACHINES, name);
    await bed.advance(120_000);
    expect([provider.instances.size, names.filter((name) => bed.get(MACHINES, name))]).toEqual([0, []]);
  });
});
