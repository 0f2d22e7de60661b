import { describe, expect, it } from 'vitest';
import { MACHINE_COMPONENTS, MACHINES } from '../../src/api/generated/resources.ts';
import type { MachineComponent } from '../../src/api/generated/types.ts';
import { ANNOTATION_YANKED } from '../../src/api/names.ts';
import { connectUpdateExtension } from '../../src/controllers/clusterapi-extension.ts';
import type { View } from '../../src/kube/cache/view.ts';
import type { Client } from '../../src/kube/client/client.ts';
import type { Views } from '../../src/kube/controller/views.ts';
import { ENDPOINT_SLICES, NODES } from '../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { componentSpec } from '../support/agent/component-spec.ts';
import { memoryLog } from '../support/memory-log.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { updatable } from './following/clusterapi/extension/facts.ts';

const SERVER = 'v1.34.2';

/** Asks about the change of md-1 from 1.34.1 to this version. */
async function ask(
  version: string,
  views: Views,
): Promise<{ readonly status?: unknown; readonly covered: boolean }> {
  const client = {
    server: 'https://127.0.0.1',
    raw: async () => ({ gitVersion: SERVER }),
  } as unknown as Client;
  const connect = async (): Promise<Client> => client;
  const parts = { connectAs: connect, connectTo: connect, clock: virtualClock(), log: memoryLog() };
  const extension = await connectUpdateExtension(parts, views);
  const body = { current: { machine: askedMachine('v1.34.1') }, desired: { machine: askedMachine(version) } };
  const { status, machinePatch } = await extension.answer('CanUpdateMachine', body);
  return { status, covered: machinePatch !== undefined };
}

function askedMachine(version: string): object {
  return { metadata: { namespace: 'fleet', name: 'md-1' }, spec: { version } };
}

function viewsWith(version: string, annotations: Readonly<Record<string, string>> = {}): Views {
  const components = ['1.34.1', version].map((each) => kubelet(each, annotations));
  return {
    [MACHINES.kind]: view([updatable(1)]),
    [NODES.kind]: view([]),
    [MACHINE_COMPONENTS.kind]: view(components),
    [ENDPOINT_SLICES.kind]: view([]),
  };
}

function kubelet(version: string, annotations: Readonly<Record<string, string>>): MachineComponent {
  const spec = componentSpec(version, { component: 'kubelet' });
  const metadata = { name: `kubelet-${version}`, annotations };
  return { apiVersion: 'kubenode.dev/v1alpha1', kind: 'MachineComponent', metadata, spec };
}

function view(objects: readonly KubeObject[], synced = true): View {
  const get = ({ name }: { readonly name: string }): KubeObject | undefined =>
    objects.find(({ metadata }) => metadata.name === name);
  const store = { list: () => objects, get };
  return { store, reflector: { freshness: () => ({ synced, ageMs: 0 }) } } as unknown as View;
}

describe('the update extension in its process', () => {
  it('CAP-05 covers a version that the rules of component sets permit', async () => {
    expect(await ask('v1.34.2', viewsWith('1.34.2'))).toEqual({ status: 'Success', covered: true });
  });

  it('CAP-05 leaves a kubelet that is newer than an API server, or yanked, to Cluster API', async () => {
    expect(await ask('v1.35.0', viewsWith('1.35.0'))).toEqual({ status: 'Success', covered: false });
    const yanked = viewsWith('1.34.2', { [ANNOTATION_YANKED]: 'broken' });
    expect(await ask('v1.34.2', yanked)).toEqual({ status: 'Success', covered: false });
  });

  it('CAP-05 answers with an error while a view is not complete', async () => {
    const views = { ...viewsWith('1.34.2'), [MACHINE_COMPONENTS.kind]: view([], false) };
    expect(await ask('v1.34.2', views)).toEqual({ status: 'Failure', covered: false });
  });
});
