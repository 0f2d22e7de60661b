import { describe, expect, it } from 'vitest';
import { ANNOTATION_OWNER_HOLD } from '../../../../../src/api/names.ts';
import {
  type ExtensionState,
  planDeployment,
} from '../../../../../src/controllers/following/clusterapi/extension/deployment.ts';
import type { KubeObject } from '../../../../../src/kube/objects/object.ts';
import { facts, updatable } from './facts.ts';

const REGISTERED: ExtensionState = { state: 'Registered' };
const MACHINES = [updatable(1), updatable(2)];

/** Of the machines in the pool general. */
function deployment(template: Readonly<Record<string, unknown>> = {}, spec: object = {}): KubeObject {
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineDeployment',
    metadata: { name: 'workers', namespace: 'fleet' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { pool: 'general' } },
      template: {
        metadata: { labels: { pool: 'general' } },
        spec: { version: 'v1.34.1', infrastructureRef: { kind: 'M', name: 'small' }, ...template },
      },
      ...spec,
    },
  };
}

const BEFORE = deployment();
const NEW_VERSION = deployment({ version: 'v1.34.2' });

describe('planDeployment', () => {
  it.each<[name: string, after: KubeObject, expected: string]>([
    [
      'updates a new version in place',
      NEW_VERSION,
      'InPlace: a component covers version v1.34.2 on each machine',
    ],
    [
      'replaces for a version that no component has',
      deployment({ version: 'v1.35.0' }),
      'Replace: no MachineComponent is kubelet v1.35.0',
    ],
    [
      'replaces for another field',
      deployment({ infrastructureRef: { kind: 'M', name: 'large' } }),
      'Replace: no component covers spec.infrastructureRef',
    ],
    [
      'replaces for another field beside the version',
      deployment({ version: 'v1.34.2', failureDomain: 'b', bootstrap: { dataSecretName: 'x' } }),
      'Replace: no component covers spec.bootstrap, spec.failureDomain',
    ],
    [
      'replaces by hand with OnDelete',
      deployment({ version: 'v1.34.2' }, { rollout: { strategy: { type: 'OnDelete' } } }),
      'Replace: its strategy is OnDelete: a machine is replaced when somebody deletes it',
    ],
  ])('%s', (_, after, expected) => {
    const decision = planDeployment({ before: BEFORE, after }, facts(MACHINES), REGISTERED);
    expect(`${decision?.type}: ${decision?.because}`).toBe(expected);
  });

  it.each<[name: string, after: KubeObject]>([
    ['nothing changes', BEFORE],
    ['only their number changes', deployment({}, { replicas: 3 })],
    ['a field changes that reaches machines without a rollout', deployment({ minReadySeconds: 5 })],
    [
      'only the version of a reference changes',
      deployment({ infrastructureRef: { kind: 'M', name: 'small', apiVersion: 'x/v2' } }),
    ],
  ])('plans no rollout where %s', (_, after) => {
    expect(planDeployment({ before: BEFORE, after }, facts(MACHINES), REGISTERED)).toBeUndefined();
  });

  it('waits for a machine that is held', () => {
    const { metadata } = updatable(2);
    const annotations = { [ANNOTATION_OWNER_HOLD]: 'MachinePaused' };
    const held = updatable(2, { metadata: { ...metadata, annotations } });
    const decision = planDeployment(
      { before: BEFORE, after: NEW_VERSION },
      facts([updatable(1), held]),
      REGISTERED,
    );
    expect(decision).toEqual({ type: 'Wait', because: 'node-2 is held: MachinePaused' });
  });

  it('replaces without a registered extension, and names that it is not known', () => {
    const change = { before: BEFORE, after: NEW_VERSION };
    expect(planDeployment(change, facts(MACHINES), { state: 'Missing' })).toEqual({
      type: 'Replace',
      because: 'no ExtensionConfig for updates in place is registered',
    });
    expect(planDeployment(change, facts(MACHINES), { state: 'Unknown', because: 'forbidden' })).toEqual({
      type: 'InPlace',
      because:
        'a component covers version v1.34.2 on each machine, if the extension is registered: forbidden',
    });
  });
});
