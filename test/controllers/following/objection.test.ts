import { describe, expect, it } from 'vitest';
import { machine, node } from '../../support/builders.ts';
import { explain, type FollowCase, renamed } from './clusterapi/cases.ts';
import { ours, theirNode, theirs } from './clusterapi/objects.ts';

const OF_MD_1 = 'Machine fleet/md-1 of Cluster API';

describe('Machines of Cluster API that are not followed', () => {
  it.each<[string, FollowCase, readonly string[]]>([
    [
      'waits for a provider ID',
      { theirs: [theirs(1, { providerID: undefined })] },
      ['Waiting fleet/md-1 NoProviderID: it has no spec.providerID yet'],
    ],
    [
      'waits for a Node',
      { theirs: [theirs(1, { node: undefined })] },
      ['Waiting fleet/md-1 NoNode: it has no status.nodeRef yet'],
    ],
    [
      'does not follow a machine of another cluster',
      { nodes: [] },
      ['Waiting fleet/md-1 NodeNotFound: Node node-1 is not in this cluster'],
    ],
    [
      'waits for the provider ID of its Node',
      { nodes: [node('node-1')] },
      ['Waiting fleet/md-1 NodeWithoutProviderID: Node node-1 has no spec.providerID yet'],
    ],
    [
      'refuses a Node on another instance',
      { theirs: [theirs(1, { providerID: 'inst://7' })] },
      ['Refused fleet/md-1 NodeOfAnother: Node node-1 is on instance inst://1'],
    ],
    [
      'refuses a Node that Cluster API gave to another machine',
      { nodes: [theirNode(1, { 'cluster.x-k8s.io/machine': 'md-7' })] },
      ['Refused fleet/md-1 NodeOfAnother: Node node-1 belongs to Machine fleet/md-7 of Cluster API'],
    ],
    [
      'refuses a Node of a cluster in another namespace',
      { nodes: [theirNode(1, { 'cluster.x-k8s.io/cluster-namespace': 'other' })] },
      ['Refused fleet/md-1 NodeOfAnother: Node node-1 belongs to Machine other/md-1 of Cluster API'],
    ],
    [
      'follows neither of two with one provider ID',
      { theirs: [theirs(1), theirs(2, { providerID: 'inst://1' })], nodes: [theirNode(1), theirNode(2)] },
      [
        'Refused fleet/md-1 Duplicate: Machine fleet/md-2 of Cluster API has the same provider ID or Node',
        `Refused fleet/md-2 Duplicate: ${OF_MD_1} has the same provider ID or Node`,
      ],
    ],
    [
      'follows neither of two with one Node',
      { theirs: [theirs(1), theirs(2, { node: 'node-1' })] },
      [
        'Refused fleet/md-1 Duplicate: Machine fleet/md-2 of Cluster API has the same provider ID or Node',
        `Refused fleet/md-2 Duplicate: ${OF_MD_1} has the same provider ID or Node`,
      ],
    ],
    [
      'refuses a name that no Machine can have',
      { theirs: [theirs(1, { node: 'n'.repeat(64) })], nodes: [renamed(1, 'n'.repeat(64))] },
      [`Refused fleet/md-1 NameTooLong: the name of a Machine has at most 63 characters: ${'n'.repeat(64)}`],
    ],
    [
      'leaves a Machine of that name that is not of this controller',
      { ours: [machine('node-1')] },
      ['Refused fleet/md-1 NameTaken: Machine node-1 of kubenode exists, and is not of this controller'],
    ],
    [
      'waits for our Machine that is being deleted',
      { ours: [ours(1, { isDeleting: true })] },
      [
        'Waiting fleet/md-1 Replacing: Machine node-1 of kubenode is for another instance, or is being deleted',
      ],
    ],
  ])('CAP-02 of the Machines of Cluster API it %s', (_, input, expected) => {
    expect(explain(input)).toEqual(expected);
  });
});
