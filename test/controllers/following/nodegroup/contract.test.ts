import { describe, expect, it } from 'vitest';
import { groupNode, groupNodeParts } from '../../../../src/controllers/following/nodegroup/contract.ts';
import { node } from '../../../support/builders.ts';
import { type GroupNodeParts, groupNodeObject, selectorOf, WORKERS } from './nodes.ts';

describe('the Nodes of node groups', () => {
  it('have the instance, the zone and whether cluster-autoscaler deletes them', () => {
    expect(groupNode(groupNodeObject(1), WORKERS)).toMatchObject({
      name: 'node-1',
      node: 'node-1',
      providerID: 'inst://1',
      zone: 'zone-a',
      isToBeDeleted: false,
      isDeleting: false,
      leftOut: undefined,
    });
  });

  it('have no field of another type than expected', () => {
    const odd = { ...groupNodeObject(1), spec: { providerID: 7, taints: [null, { key: 7 }] } };
    expect(groupNode(odd, WORKERS)).toMatchObject({ providerID: undefined, isToBeDeleted: false });
    const empty = { ...groupNodeObject(1), spec: { providerID: '' } };
    expect(groupNode(empty, WORKERS).providerID).toBeUndefined();
  });

  it.each([
    ['group=workers', undefined],
    ['group in (workers,gpu),!spot', undefined],
    ['group=gpu', 'NotSelected'],
    ['group=workers,zone', 'NotSelected'],
  ])('are those that the labels %s select', (text, reason) => {
    expect(groupNode(groupNodeObject(1), selectorOf(text)).leftOut?.reason).toBe(reason);
  });

  it.each<[string, GroupNodeParts]>([
    ['a label', { labels: { group: 'workers' } }],
    ['a taint', { taint: 'ToBeDeletedByClusterAutoscaler' }],
    ['the provider ID', { providerID: 'inst://9' }],
    ['a deletion', { deletionTimestamp: '2030-01-01T11:00:00Z' }],
    ['the mark of Cluster API', { annotations: { 'cluster.x-k8s.io/machine': 'md-1' } }],
  ])('are judged again after a change of %s', (_, parts) => {
    expect(groupNodeParts(groupNodeObject(1, parts))).not.toEqual(groupNodeParts(groupNodeObject(1)));
  });

  it('are not judged again after a heartbeat', () => {
    const silent = { ...groupNodeObject(1), status: node('node-1', 'Unknown')['status'] };
    expect(groupNodeParts(silent)).toEqual(groupNodeParts(groupNodeObject(1)));
  });
});
