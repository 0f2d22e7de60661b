import { describe, expect, it } from 'vitest';
import {
  anyOf,
  contentChanged,
  generationChanged,
  partChanged,
  specOrConditionsChanged,
} from '../../../src/kube/controller/predicates.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

const NODE: KubeObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', generation: 1, resourceVersion: '1', labels: { zone: 'a' } },
  spec: { unschedulable: false },
  status: {
    images: ['x'],
    conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '12:00' }],
  },
};

function changed(change: Partial<KubeObject>): KubeObject {
  return { ...NODE, ...change, metadata: { ...NODE.metadata, resourceVersion: '2', ...change.metadata } };
}

function metadata(change: Partial<KubeObject['metadata']>): KubeObject {
  return changed({ metadata: { ...NODE.metadata, resourceVersion: '2', ...change } });
}

const HEARTBEAT = changed({
  status: { images: ['x'], conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '12:01' }] },
});
const CONDITION = changed({
  status: { images: ['x'], conditions: [{ type: 'Ready', status: 'False', lastHeartbeatTime: '12:01' }] },
});
const IMAGES = changed({ status: { images: ['y'], conditions: [{ type: 'Ready', status: 'True' }] } });
const SPEC = changed({ spec: { unschedulable: true }, metadata: { name: 'n', generation: 2 } });
const LABEL = metadata({ labels: { zone: 'b' } });
const DELETED = metadata({ deletionTimestamp: '12:00' });
const BOOKKEEPING = metadata({ managedFields: [{ manager: 'x', operation: 'Update' }] });

function lease(renewTime: string, holderIdentity: string): KubeObject {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'n' },
    spec: { holderIdentity, renewTime },
  };
}

describe.each([
  ['nothing but the version', changed({}), { generation: false, content: false, conditions: false }],
  ['bookkeeping', BOOKKEEPING, { generation: false, content: false, conditions: false }],
  ['a heartbeat', HEARTBEAT, { generation: false, content: false, conditions: false }],
  ['a condition', CONDITION, { generation: false, content: true, conditions: true }],
  ['another part of the status', IMAGES, { generation: false, content: true, conditions: false }],
  ['the spec', SPEC, { generation: true, content: true, conditions: true }],
  ['a label', LABEL, { generation: false, content: true, conditions: true }],
  ['a deletion', DELETED, { generation: true, content: true, conditions: true }],
])('of %s', (_, after, expected) => {
  it('the predicates hold as documented', () => {
    expect({
      generation: generationChanged(NODE, after),
      content: contentChanged(NODE, after),
      conditions: specOrConditionsChanged(NODE, after),
    }).toEqual(expected);
  });
});

it('generationChanged holds for every update of an object without a generation', () => {
  const node = { ...NODE, metadata: { name: 'n' } };
  expect(generationChanged(node, node)).toBe(true);
});

it('the renewal of a Lease does not change its content', () => {
  expect(contentChanged(lease('12:00', 'a'), lease('12:01', 'a'))).toBe(false);
  expect(contentChanged(lease('12:00', 'a'), lease('12:01', 'b'))).toBe(true);
});

it('predicates combine', () => {
  const either = anyOf(
    generationChanged,
    partChanged(({ metadata: { labels } }) => labels),
  );
  expect([SPEC, LABEL, HEARTBEAT].map((after) => either(NODE, after))).toEqual([true, true, false]);
});
