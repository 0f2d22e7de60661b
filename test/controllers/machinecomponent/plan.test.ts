import { describe, expect, it } from 'vitest';
import type {
  MachineComponent,
  MachineComponentSpec,
  MachineComponentStatus,
} from '../../../src/api/generated/types.ts';
import type { ComponentUsers } from '../../../src/controllers/machinecomponent/observe.ts';
import { planComponentUse } from '../../../src/controllers/machinecomponent/plan.ts';
import { componentStatus } from '../../../src/controllers/machinecomponent/status.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import type { Metadata } from '../../../src/kube/objects/object.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { agentFile } from '../../support/agent/targets.ts';
import { NOW } from '../../support/builders.ts';

const UNUSED: ComponentUsers = { sets: [] };
const USED: ComponentUsers = { sets: ['general', 'gpu'] };

function component(
  spec: Partial<MachineComponentSpec> = {},
  metadata: Partial<Metadata> = {},
): MachineComponent {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MachineComponent',
    metadata: { name: 'proxy-1.0', ...metadata },
    spec: componentSpec('1.0', spec),
  };
}

function statusOf(object: MachineComponent, use: ComponentUsers = UNUSED): MachineComponentStatus {
  const input = { component: object, use, now: NOW };
  return componentStatus(input, planComponentUse(input));
}

function explain(object: MachineComponent, use: ComponentUsers = UNUSED): string[] {
  const { phase, conditions } = statusOf(object, use);
  return [
    phase ?? 'no phase',
    ...conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`),
  ];
}

function acceptedOf(spec: Partial<MachineComponentSpec>, metadata: Partial<Metadata> = {}): string {
  const { conditions } = statusOf(component(spec, metadata));
  return conditions.find(({ type }) => type === 'Accepted')?.message ?? 'missing';
}

describe('the status of a MachineComponent', () => {
  it.each<[string, MachineComponent, ComponentUsers, readonly string[]]>([
    [
      'that is not used',
      component(),
      UNUSED,
      ['Unused', 'Accepted=True Valid', 'InUse=False NotUsed', 'Yanked=False AsWanted'],
    ],
    [
      'that a set assigns',
      component(),
      USED,
      ['InUse', 'Accepted=True Valid', 'InUse=True Assigned', 'Yanked=False AsWanted'],
    ],
    [
      'that a machine still has',
      component(),
      { sets: [], machine: 'n17' },
      ['InUse', 'Accepted=True Valid', 'InUse=True OnMachines', 'Yanked=False AsWanted'],
    ],
    [
      'that is yanked',
      component({}, { annotations: { 'kubenode.dev/yanked': 'CVE-2030-1' } }),
      USED,
      ['Yanked', 'Accepted=True Valid', 'InUse=True Assigned', 'Yanked=True Yanked'],
    ],
    [
      'that no agent can use',
      component({ files: [agentFile('/a', '${nmae}')] }),
      USED,
      ['Refused', 'Accepted=False Invalid', 'InUse=True Assigned', 'Yanked=False AsWanted'],
    ],
    [
      'that is being deleted',
      component({}, { deletionTimestamp: '2030-01-01T00:00:00Z' }),
      UNUSED,
      ['Deleting', 'Accepted=True Valid', 'InUse=False NotUsed', 'Yanked=False AsWanted'],
    ],
  ])('shows one %s', (_, object, use, expected) => {
    expect(explain(object, use)).toEqual(expected);
  });

  it('names the place and the reason of the first problem', () => {
    const files = [agentFile('/a', '${nmae}'), agentFile('/b', '${x}')];
    const annotations = { 'kubenode.dev/source': 'fleet/components/proxy.ts:7' };
    expect(acceptedOf({ files }, { annotations })).toMatch(
      /^component proxy-1\.0 \(fleet\/components\/proxy\.ts:7\): spec\.files\[0\]\.content: unknown placeholder .* \(and 1 more\)$/,
    );
  });

  it('names the content by its digest, and the first 20 sets', () => {
    const sets = Array.from({ length: 25 }, (_, index) => `set-${index}`);
    const object = component({}, { generation: 3 });
    const status = statusOf(object, { sets });
    expect(status.digest).toBe(digestOf(object.spec));
    expect([status.sets?.length, status.observedGeneration]).toEqual([20, 3]);
    expect(status.conditions.map((each) => each.observedGeneration)).toEqual([3, 3, 3]);
  });
});
