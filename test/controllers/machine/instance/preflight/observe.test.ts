import { describe, expect, it } from 'vitest';
import {
  DEFENDER_LEDGERS,
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  MACHINES,
} from '../../../../../src/api/generated/resources.ts';
import type { Machine } from '../../../../../src/api/generated/types.ts';
import { createMachineController } from '../../../../../src/controllers/machine/controller.ts';
import { createCreationPreflight } from '../../../../../src/controllers/machine/instance/preflight/observe.ts';
import { CERTIFICATE_REQUESTS } from '../../../../../src/kube/auth/certificate-requests.ts';
import { conditionOf } from '../../../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../../src/kube/objects/object.ts';
import { servedKind } from '../../../../../src/sim/api-server/kinds.ts';
import { machine } from '../../../../support/builders.ts';
import { type ControllerBed, createControllerBed } from '../../../../support/controller/bed.ts';
import { memoryGrants } from '../../../../support/memory-grants.ts';
import { type MemoryProvider, memoryProvider } from '../../../../support/memory-provider.ts';

const KINDS = [
  ...[MACHINES, NODES, MACHINE_COMPONENTS, MACHINE_COMPONENT_SETS].map(servedKind),
  { resource: DEFENDER_LEDGERS },
  { resource: CERTIFICATE_REQUESTS },
];

interface PreflightBed {
  readonly bed: ControllerBed;
  readonly provider: MemoryProvider;
  /** The version of the control plane. */
  readonly server: { version: string; fault?: Error; requests: number };
  readonly ready: (name?: string) => string;
}

async function open(objects: readonly KubeObject[]): Promise<PreflightBed> {
  const now = (): Date => bed.clock.now();
  const provider = memoryProvider(now);
  provider.platformOf = () => ({ os: 'linux', arch: 'amd64' });
  const server: PreflightBed['server'] = { version: 'v1.34.2', requests: 0 };
  const bed: ControllerBed = createControllerBed({
    controllers: () => [
      createMachineController({
        client: {} as never,
        grants: memoryGrants({ now }),
        instances: {
          providers: { local: provider },
          clusterUid: 'c',
          createBootstrap: () =>
            Promise.resolve({ text: 'x', expiresAt: new Date(now().getTime() + 900_000) }),
          preflight: createCreationPreflight(
            {
              server: 'https://api',
              raw: async () => {
                server.requests += 1;
                if (server.fault) throw server.fault;
                return { gitVersion: server.version };
              },
            },
            bed.clock,
          ),
        },
      }),
    ],
    kinds: KINDS,
    objects,
  });
  await bed.start();
  await bed.advance(1000);
  return {
    bed,
    provider,
    server,
    ready: (name = 'm-1') => {
      const found = conditionOf(bed.get<Machine>(MACHINES, name)?.status?.conditions, 'InfraReady');
      return `${found?.status} ${found?.reason}: ${found?.message}`;
    },
  };
}

function machineObject(name: string): KubeObject {
  const infra = { provider: 'local', config: { type: 'sandbox' } } as const;
  const { status: _, metadata: __, ...rest } = machine(name, { spec: { components: [], infra } });
  return { ...rest, metadata: { name, labels: { pool: 'web' } } };
}

function component(arch = 'amd64'): KubeObject {
  const artifact = { os: 'linux', arch, url: 'https://x.test/y', sha256: 'a'.repeat(64) };
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MachineComponent',
    metadata: { name: 'kubelet-1.34.2' },
    spec: { component: 'kubelet', version: '1.34.2', identity: 'Kubelet', artifacts: [artifact] },
  };
}

function componentSet(): KubeObject {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MachineComponentSet',
    metadata: { name: 'nodes' },
    spec: {
      machineSelector: { matchLabels: { pool: 'web' } },
      components: [{ name: 'kubelet', componentRef: 'kubelet-1.34.2', state: 'Present' }],
    },
  };
}

describe('the preflight of a creation', () => {
  it('MAC-35 creates nothing while a component is missing, and does within ten seconds after it exists', async () => {
    const { bed, provider, ready } = await open([componentSet(), machineObject('m-1')]);
    expect(ready()).toBe(
      'False ComponentMissing: no instance is created: component kubelet: MachineComponent kubelet-1.34.2 does not exist. Apply it',
    );
    await bed.advance(60_000);
    expect(provider.created).toEqual([]);
    bed.apply(component());
    await bed.advance(10_000);
    expect(ready()).toMatch(/^True AsWanted/);
  });

  it('MAC-35 creates nothing for which a component has no artifact', async () => {
    const { bed, provider, ready } = await open([componentSet(), component('arm64'), machineObject('m-1')]);
    expect(ready()).toMatch(/^False ArtifactMissing: no instance is created: .* no artifact for linux amd64/);
    await bed.advance(60_000);
    expect(provider.created).toEqual([]);
  });

  it('MAC-35 creates nothing whose kubelet is newer than the control plane that runs, until that is upgraded', async () => {
    const { bed, provider, server, ready } = await open([machineObject('m-1')]);
    await bed.advance(1000);
    expect(provider.created).toHaveLength(1);
    server.version = 'v1.33.0';
    await bed.advance(5000);
    for (const object of [component(), componentSet(), machineObject('m-2')]) bed.apply(object);
    await bed.advance(30_000);
    expect(ready('m-2')).toMatch(/^False KubeletSkew: /);
    expect(provider.created).toHaveLength(1);
    server.version = 'v1.34.2';
    await bed.advance(10_000);
    expect(provider.created.map((request) => request.machine)).toEqual(['m-1', 'm-2']);
  });

  it('MAC-35 creates nothing with a kubelet while the version of the control plane is unknown, and names why', async () => {
    const { bed, provider, server, ready } = await open([component(), componentSet()]);
    server.fault = new Error('connect ETIMEDOUT');
    bed.apply(machineObject('m-1'));
    await bed.advance(10_000);
    expect(ready()).toMatch(/^False ServerVersionUnknown: no instance is created: .*connect ETIMEDOUT$/);
    expect(provider.created).toEqual([]);
  });

  it('MAC-35 reads the version of the control plane once for all machines that wait, and not without a kubelet', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `m-${index}`);
    const { bed, provider, server } = await open([component()]);
    bed.apply(machineObject('without'));
    await bed.advance(1000);
    expect([provider.created.length, server.requests]).toEqual([1, 0]);
    for (const object of [componentSet(), ...names.map(machineObject)]) bed.apply(object);
    await bed.advance(2000);
    expect([provider.created.length, server.requests]).toEqual([13, 1]);
  });

  it('MAC-35 asks for each machine when one was refused for another reason than capacity', async () => {
    const { bed, provider, ready } = await open([]);
    provider.fault = (call) => (call === 'create m-1' ? 'Terminal' : undefined);
    bed.apply(machineObject('m-1'));
    await bed.advance(1000);
    bed.apply(machineObject('m-2'));
    await bed.advance(2000);
    expect(ready('m-1')).toBe('Unknown ImageMissing: no such image');
    expect(provider.created.map((request) => request.machine)).toEqual(['m-2']);
  });

  it('MAC-35 starts an instance that exists, also while a component is missing', async () => {
    const { bed, provider } = await open([machineObject('m-1')]);
    await bed.advance(1000);
    const [id = ''] = provider.instances.keys();
    bed.apply(componentSet());
    provider.setState(id, 'Stopped');
    await bed.advance(60_000);
    expect(provider.instances.get(id)?.state).toBe('Running');
  });

  it('MAC-35 gives an instance that exists another token, also while a component is missing', async () => {
    const { bed, provider, ready } = await open([machineObject('m-1')]);
    await bed.advance(90_000);
    const before = provider.created.length;
    bed.apply(componentSet());
    await bed.advance(90_000);
    expect(provider.created.length).toBeGreaterThan(before);
    expect(provider.instances.size).toBe(1);
    expect(ready()).not.toContain('no instance is created');
  });

  it('MAC-35 does not ask for a machine that is new after another one was refused', async () => {
    const { bed, provider, ready } = await open([]);
    provider.fault = (call) => (call.startsWith('create') ? 'Quota' : undefined);
    bed.apply(machineObject('m-1'));
    await bed.advance(2000);
    bed.apply(machineObject('m-2'));
    await bed.advance(2000);
    expect(ready('m-2')).toBe('Unknown Quota: no capacity');
    expect(provider.calls.filter((call) => call.startsWith('create'))).toEqual(['create m-1 -> Quota']);
  });

  it('MAC-35 reports the own failure of a machine while others are refused for lack of capacity', async () => {
    const { bed, provider, ready } = await open([]);
    provider.fault = (call) =>
      call === 'create m-1' ? 'Terminal' : call === 'create m-2' ? 'Quota' : undefined;
    for (const name of ['m-1', 'm-2']) bed.apply(machineObject(name));
    await bed.advance(2000);
    const changed = machineObject('m-1');
    bed.apply({ ...changed, metadata: { ...changed.metadata, annotations: { changed: '' } } });
    await bed.advance(2000);
    expect(ready('m-1')).toBe('Unknown ImageMissing: no such image');
    expect(ready('m-2')).toBe('Unknown Quota: no capacity');
  });

  it('MAC-35 asks once for all machines that want the same while there is no capacity, and creates all within ten seconds after', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `m-${index}`);
    const { bed, provider, ready } = await open([]);
    provider.fault = (call) => (call.startsWith('create') ? 'Quota' : undefined);
    for (const name of names) bed.apply(machineObject(name));
    await bed.advance(2000);
    expect(ready('m-5')).toBe('Unknown Quota: no capacity');
    const before = provider.calls.length;
    await bed.advance(60_000);
    expect(provider.calls.slice(before).filter((call) => call.startsWith('create')).length).toBeLessThan(8);
    expect(provider.calls.slice(before).filter((call) => call === 'find').length).toBeLessThan(8);
    provider.fault = () => undefined;
    await bed.advance(20_000);
    expect(provider.created.map((request) => request.machine).toSorted()).toEqual(names.toSorted());
  });
});
