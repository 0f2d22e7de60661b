/**
 * How a pin leaves `Machine.spec.components`: what a real API server does when a person and the component set controller
 * own parts of one list entry. See docs/decisions/0016-how-a-pin-is-removed.md.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Machine } from '../../../src/api/generated/types.ts';
import { MANAGER_CLI, MANAGER_COMPONENTSET, PRINCIPAL_COMPONENTSET } from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import { resources } from './resources.ts';
import { GRANTS, type SampleCluster, startSampleCluster } from './sample-cluster.ts';

const PIN = { name: 'kubelet', componentRef: 'kubelet-1.31.9', digest: `sha256:${'6b'.repeat(32)}` };
const assignment = { set: 'general-nodes', revision: 'r-5d41402a', batch: 1 };
const FROM_SET = { ...PIN, componentRef: 'kubelet-1.31.4', assignment };
const grant = { ...GRANTS.n17, entryDigest: `sha256:${'7c'.repeat(32)}`, notAfter: '2026-11-20T07:05:05Z' };

let sample: SampleCluster;
let controller: Client;
beforeAll(async () => {
  sample = await startSampleCluster();
  controller = await sample.account(PRINCIPAL_COMPONENTSET);
});
beforeEach(() => sample.server.wipe());
afterAll(() => sample?.stop());

describe('a pin that only a person owns', () => {
  it('is removed when the person applies a list without it, or no list at all', async () => {
    for (const spec of [{ components: [] }, {}]) {
      await personApplies(PIN);
      const left = await sample.admin.apply<Machine>(resources.Machine, machine(spec), {
        fieldManager: MANAGER_CLI,
      });
      expect(entriesOf(left)).toEqual([]);
    }
  });
});

describe('a pin into which the controller applied a grant', () => {
  it('cannot be removed by the person: the entry stays without its required fields, which is invalid', async () => {
    await personApplies(PIN);
    await controllerApplies({ name: PIN.name, grant });
    const error: unknown = await personApplies().catch((reason: unknown) => reason);
    expect(isKubeError(error, 'Invalid') && error.causes[0]).toMatchObject({
      field: 'spec.components[0].componentRef',
      message: 'Required value',
    });
    expect(await live()).toMatchObject([{ ...PIN, grant }]);
  });

  it('is removed once the controller has applied its list without the entry', async () => {
    await personApplies(PIN);
    await controllerApplies({ name: PIN.name, grant });
    expect(entriesOf(await controllerApplies())).toEqual([expect.not.objectContaining({ grant })]);
    expect(entriesOf(await personApplies())).toEqual([]);
  });

  it('is not brought back by the controller: without its required fields the entry is refused', async () => {
    const error: unknown = await controllerApplies({ name: PIN.name, grant }).catch(
      (reason: unknown) => reason,
    );
    expect(isKubeError(error, 'Invalid')).toBe(true);
  });
});

describe('a pin into which the controller patched a grant', () => {
  it('is removed by the person at any time, and the grant with it', async () => {
    await personApplies(PIN);
    expect(await controllerPatches(grant)).toMatchObject([{ ...PIN, grant }]);
    expect(entriesOf(await personApplies())).toEqual([]);
  });

  it('keeps the grant when the person applies the same pin again', async () => {
    await personApplies(PIN);
    await controllerPatches(grant);
    expect(entriesOf(await personApplies(PIN))).toMatchObject([{ ...PIN, grant }]);
  });

  it('is not patched at the place of another entry: the test in the patch fails', async () => {
    await personApplies({ ...PIN, name: 'runc', componentRef: 'runc-1.1.0' });
    await expect(controllerPatches(grant)).rejects.toMatchObject({ code: 'Invalid' });
  });
});

describe('a pin over the entry of a set', () => {
  it('needs force, and then belongs to both until the controller leaves it out of its list', async () => {
    await controllerApplies(FROM_SET);
    await expect(personApplies(PIN, false)).rejects.toMatchObject({ code: 'Conflict' });
    expect(entriesOf(await personApplies(PIN))).toMatchObject([{ ...PIN, assignment }]);
    await expect(personApplies()).rejects.toMatchObject({ code: 'Invalid' });

    expect(entriesOf(await controllerApplies())).toEqual([expect.not.objectContaining({ assignment })]);
    expect(await live()).toMatchObject([PIN]);
    expect(entriesOf(await personApplies())).toEqual([]);
    expect(entriesOf(await controllerApplies(FROM_SET))).toMatchObject([FROM_SET]);
  });

  it('of the same version changes nothing: without it the entry of the set remains', async () => {
    await controllerApplies(FROM_SET);
    const { assignment: _assignment, ...same } = FROM_SET;
    await personApplies(same, false);
    expect(entriesOf(await personApplies())).toMatchObject([FROM_SET]);
  });
});

function machine(spec: object): Machine {
  return { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', metadata: { name: 'n17' }, spec } as Machine;
}

/** Server-side apply of a list with this entry, or of an empty one. */
function personApplies(entry?: object, force = true): Promise<Machine> {
  const options = { fieldManager: MANAGER_CLI, force };
  return sample.admin.apply(resources.Machine, machine({ components: entry ? [entry] : [] }), options);
}

function controllerApplies(entry?: object): Promise<Machine> {
  const options = { fieldManager: MANAGER_COMPONENTSET, force: true };
  return controller.apply(resources.Machine, machine({ components: entry ? [entry] : [] }), options);
}

async function controllerPatches(value: object): Promise<readonly object[]> {
  const body = [
    { op: 'test', path: '/spec/components/0/name', value: PIN.name },
    { op: 'add', path: '/spec/components/0/grant', value },
  ];
  const patched = await controller.patch<Machine>(
    resources.Machine,
    { name: 'n17' },
    { type: 'json', body },
    { fieldManager: MANAGER_COMPONENTSET },
  );
  return entriesOf(patched);
}

async function live(): Promise<readonly object[]> {
  return entriesOf(await sample.admin.get<Machine>(resources.Machine, { name: 'n17' }));
}

function entriesOf({ spec }: Machine): readonly object[] {
  return spec.components;
}
