import { describe, expect, it } from 'vitest';
import { ANNOTATION_OWNER_HOLD } from '../../../../../src/api/names.ts';
import {
  type DeploymentChange,
  type ExtensionState,
  planDeployment,
} from '../../../../../src/controllers/following/clusterapi/extension/deployment.ts';
import type { KubeObject } from '../../../../../src/kube/objects/object.ts';
import { facts, updatable } from './facts.ts';
import { configOf, FILE, fileMachine, rulesOf } from './files/bed.ts';

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

function bootstrapOf(name: string): object {
  return { configRef: { kind: 'KubeadmConfigTemplate', name } };
}

function configTemplate(content: string, rest: object = {}): KubeObject {
  return {
    apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmConfigTemplate',
    metadata: { name: 'workers', namespace: 'fleet' },
    spec: { template: { spec: configOf(content, [], rest) } },
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

  it.each<[name: string, parts: Partial<DeploymentChange>, expected: string]>([
    [
      'updates a file in place that a component covers',
      { templates: { before: configTemplate('a = 1'), after: configTemplate('a = 2') } },
      `InPlace: components cover ${FILE} on each machine`,
    ],
    [
      'replaces for a file that none covers',
      { templates: { before: configTemplate('a = 1'), after: configTemplate('a = 3') } },
      `Replace: runtime-1 has another ${FILE} than the KubeadmConfig, and no other version of runtime has it without a further change`,
    ],
    [
      'replaces for another field of the template',
      { templates: { before: configTemplate('a = 1'), after: configTemplate('a = 2', { verbosity: 2 }) } },
      'Replace: no component covers spec of the KubeadmConfigTemplate',
    ],
    [
      'names that the templates cannot be read',
      { templates: { unreadable: 'forbidden' } },
      'Replace: no component is known to cover spec.bootstrap: forbidden',
    ],
    ['replaces for the config of another provider', {}, 'Replace: no component covers spec.bootstrap'],
  ])('CAP-17 shows what becomes of a change of files: %s', (_, parts, expected) => {
    const sides = {
      before: deployment({ bootstrap: bootstrapOf('v1') }),
      after: deployment({ bootstrap: bootstrapOf('v2') }),
    };
    const machines = [1, 2].map((n) => fileMachine(n, { config: configOf('a = 1') }));
    const decision = planDeployment(
      { ...sides, ...parts },
      facts(machines, { rules: rulesOf() }),
      REGISTERED,
    );
    expect(`${decision?.type}: ${decision?.because}`).toBe(expected);
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
