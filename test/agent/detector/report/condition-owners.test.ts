import { describe, expect, it } from 'vitest';
import {
  conditionOwners,
  type NodeWithConditions,
  otherWriter,
  ownedTypes,
  typesOf,
} from '../../../../src/agent/detector/report/condition-owners.ts';
import type { ManagedFields } from '../../../../src/kube/objects/object.ts';

const US = 'kubenode-agent';
const TIME = '2030-01-01T12:00:00Z';

describe('condition owners', () => {
  it('tells the fields of the agent from those of others, without the item itself', () => {
    const found = node([
      entry(US, 'Apply', { A: ['.', 'f:type', 'f:status'], B: ['.', 'f:type'] }),
      entry('npd', 'Update', { A: ['f:lastHeartbeatTime'] }),
      entry('kubelet', 'Update', { Ready: ['f:status'] }),
    ]);
    expect(conditionOwners(found, 'A', US)).toEqual({
      own: ['type', 'status'],
      others: [{ manager: 'npd', fields: ['lastHeartbeatTime'], time: TIME }],
    });
    expect(ownedTypes(found, US)).toEqual(['A', 'B']);
    expect(typesOf(found, 'npd', US)).toEqual(['A']);
    expect(typesOf(found, 'kubelet', US)).toEqual(['Ready']);
  });

  it('knows nothing of a Node without managed fields', () => {
    const { managedFields: _, ...metadata } = node([]).metadata;
    expect(conditionOwners({ ...node([]), metadata }, 'A', US)).toEqual({ own: [], others: [] });
  });

  it.each<[string, readonly string[], Readonly<Record<string, readonly string[]>>, string | undefined]>([
    ['is missing while no other program owns a field', ['type', 'status'], {}, undefined],
    [
      'is missing when others own the same fields',
      ['type', 'status'],
      { npd: ['type', 'status'] },
      undefined,
    ],
    ['owns a field that the agent does not', ['type', 'status'], { npd: ['lastHeartbeatTime'] }, 'npd'],
    [
      'owns the heartbeat, when there are several',
      ['type'],
      { kubectl: ['message'], npd: ['lastHeartbeatTime'] },
      'npd',
    ],
    ['is the first one, when none of several owns the heartbeat', [], { a: ['status'], b: ['reason'] }, 'a'],
  ])('the other writer %s', (_, own, others, expected) => {
    const owners = Object.entries(others).map(([manager, fields]) => ({ manager, fields }));
    expect(otherWriter({ own, others: owners })?.manager).toBe(expected);
  });
});

function node(managedFields: readonly ManagedFields[]): NodeWithConditions {
  const conditions = ['A', 'B', 'Ready'].map((type) => ({ type }));
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'm', managedFields }, status: { conditions } };
}

function entry(
  manager: string,
  operation: ManagedFields['operation'],
  owned: Readonly<Record<string, readonly string[]>>,
): ManagedFields {
  const items = Object.entries(owned).map(([type, fields]): [string, object] => [
    `k:${JSON.stringify({ type })}`,
    Object.fromEntries(fields.map((field) => [field, {}])),
  ]);
  const fieldsV1 = { 'f:status': { 'f:conditions': Object.fromEntries(items) } };
  return { manager, operation, subresource: 'status', time: TIME, fieldsV1 };
}
