import { describe, expect, it } from 'vitest';
import { type FollowCase, planOf } from './cases.ts';
import { CLUSTER, theirs } from './objects.ts';

const PAUSED = 'cluster.x-k8s.io/paused';
const NO_DRAIN = 'machine.cluster.x-k8s.io/exclude-node-draining';
const NO_REMEDIATION = 'cluster.x-k8s.io/skip-remediation';
const HOOK = 'pre-drain.delete.hook.machine.cluster.x-k8s.io/kubenode';
const OF_MD_1 = 'Machine fleet/md-1 of Cluster API';

describe('what Cluster API permits on a machine', () => {
  it.each<[string, FollowCase, string | undefined]>([
    ['permits disruption by default', {}, undefined],
    [
      'honors the pause of a Cluster',
      { clusters: [{ ...CLUSTER, isPaused: true }] },
      'ClusterPaused: Cluster fleet/c of Cluster API is paused',
    ],
    [
      'honors the pause of a Machine',
      { theirs: [theirs(1, { annotations: { [PAUSED]: '' } })] },
      `MachinePaused: ${OF_MD_1} has the annotation ${PAUSED}`,
    ],
    [
      'leaves a machine alone that they delete and drain',
      { theirs: [theirs(1, { isDeleting: true })], clusters: [{ ...CLUSTER, isPaused: true }] },
      `MachineDeleting: ${OF_MD_1} is being deleted, and drained there`,
    ],
    [
      'lets an act end for which a machine in deletion has the hook',
      { theirs: [theirs(1, { isDeleting: true, annotations: { [HOOK]: 'Reboot for a job' } })] },
      undefined,
    ],
    [
      'is held when Cluster API drains in spite of the hook',
      {
        theirs: [
          theirs(1, { isDeleting: true, isDraining: true, annotations: { [HOOK]: 'Reboot for a job' } }),
        ],
      },
      `MachineDeleting: ${OF_MD_1} is being deleted, and drained there`,
    ],
    [
      'leaves the machines of a Cluster alone that they delete',
      { clusters: [{ ...CLUSTER, isDeleting: true }] },
      'ClusterDeleting: Cluster fleet/c of Cluster API is being deleted',
    ],
    [
      'is careful without the Cluster, which may be paused',
      { clusters: [{ ...CLUSTER, namespace: 'other' }] },
      'ClusterUnknown: Cluster fleet/c of Cluster API was not found',
    ],
    [
      'honors that a machine is excluded from drains',
      { theirs: [theirs(1, { annotations: { [NO_DRAIN]: 'false' } })] },
      `DrainExcluded: ${OF_MD_1} has the annotation ${NO_DRAIN}`,
    ],
    [
      'honors that no remediation may replace a machine',
      { theirs: [theirs(1, { annotations: { [NO_REMEDIATION]: '' } })] },
      `RemediationSkipped: ${OF_MD_1} has the annotation ${NO_REMEDIATION}`,
    ],
  ])('CAP-03 on a machine of Cluster API it %s', (_, input, expected) => {
    const [action] = planOf(input).actions;
    expect(action?.type === 'Create' && action.desired.hold).toBe(expected);
  });
});
