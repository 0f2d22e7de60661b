/** A cluster with machines at one version of the kubelet, as a plan reads it. */
import type { Machine, MachineComponent, MachineComponentSet } from '../../../../src/api/generated/types.ts';
import type { RolloutFleet } from '../../../../src/cli/plan/rollouts/fleet.ts';
import { resolveRevision } from '../../../../src/controllers/componentset/revision/resolve.ts';
import { digestOf } from '../../../../src/kube/objects/digest.ts';
import { componentSet, type SetParts } from '../../../controllers/componentset/component-set.ts';
import { ownEntries } from '../../../controllers/componentset/managed-fields.ts';
import { componentSpec } from '../../../support/agent/component-spec.ts';
import { machine, node } from '../../../support/builders.ts';

export const SERVER = 'v1.36.3';

export function kubelet(version: string): MachineComponent {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MachineComponent',
    metadata: { name: `kubelet-${version}` },
    spec: componentSpec(version, {
      component: 'kubelet',
      identity: 'Kubelet',
      activation: { class: 'Drain' },
    }),
  };
}

const OLD = kubelet('1.35.4');

/** Declares that version for the machines of its pool. */
export function kubeletSet(
  version: string,
  { spec, ...parts }: SetParts = {},
  name = 'general',
): MachineComponentSet {
  const components = [
    { name: 'kubelet', componentRef: `kubelet-${version}`, state: 'Present', parameters: {} },
  ] as const;
  const matchLabels = { pool: name };
  return componentSet(name, {
    spec: { components, machineSelector: { all: false, matchLabels }, ...spec },
    ...parts,
  });
}

/** At the older version, which the set rolled out completely. */
export function settledSet(): MachineComponentSet {
  const set = kubeletSet('1.35.4');
  const revision = settledRevision(set);
  return {
    ...set,
    status: { conditions: [], updateRevision: revision, history: [{ revision, result: 'Completed' }] },
  };
}

function settledRevision({ spec }: MachineComponentSet): string {
  const resolved = resolveRevision(spec.components, () => ({ spec: OLD.spec, digest: digestOf(OLD.spec) }));
  return 'revision' in resolved ? resolved.revision.name : '';
}

export function settledMachine(name: string): Machine {
  const digest = digestOf(OLD.spec);
  const { name: componentRef } = OLD.metadata;
  const assignment = { set: 'general', revision: settledRevision(kubeletSet('1.35.4')), batch: 0 };
  return machine(name, {
    metadata: { labels: { pool: 'general' }, managedFields: [ownEntries('kubelet')] },
    spec: {
      components: [{ name: 'kubelet', componentRef, digest, state: 'Present', parameters: {}, assignment }],
    },
    status: {
      components: [
        {
          name: 'kubelet',
          desiredRef: componentRef,
          currentRef: componentRef,
          digest,
          state: 'Committed',
          running: true,
          ready: true,
        },
      ],
    },
  });
}

/** Settled at the older version. */
export function rolloutFleet(machines: number): RolloutFleet {
  const names = Array.from({ length: machines }, (_, index) => `m-${index}`);
  return {
    sets: [settledSet()],
    components: [OLD, kubelet('1.36.3')],
    machines: names.map(settledMachine),
    nodes: new Map(names.map((name) => [name, node(name)])),
    grants: {},
    revisions: new Map(),
    servers: { state: 'Known', versions: [SERVER] },
  };
}
