import { describe, expect, it } from 'vitest';
import type { NodeWithConditions } from '../../../../src/agent/detector/report/condition-owners.ts';
import { planWriters, type WritersInput } from '../../../../src/agent/detector/report/writers.ts';
import type { ManagedFields } from '../../../../src/kube/objects/object.ts';

const US = 'kubenode-agent';
const NPD = 'node-problem-detector';
const TIMES = ['lastHeartbeatTime', 'lastTransitionTime'];
const ALL = ['type', 'status', 'reason', 'message', ...TIMES];
const NOT_TIMES = ['type', 'status', 'reason', 'message'];

describe('writers', () => {
  it.each<[string, Partial<WritersInput>, string]>([
    ['writes a condition that is not there', { node: node({}) }, 'write A B'],
    ['writes what it wrote before', { node: node({ [US]: ALL }) }, 'write A B'],
    [
      'stands by for a condition of another program',
      { node: node({ [NPD]: ALL }) },
      'write B, standby A: node-problem-detector writes it',
    ],
    [
      'stands by for one of which another program patched the times alone, and keeps the rest',
      { node: node({ [US]: NOT_TIMES, [NPD]: TIMES }) },
      'write B, standby A: node-problem-detector writes it, keep A type status reason message',
    ],
    [
      'keeps the fields that it still owns, without those that another program took',
      { node: node({ [US]: ['type', 'reason'], [NPD]: ['status', 'message', ...TIMES] }) },
      'write B, standby A: node-problem-detector writes it, keep A type reason',
    ],
    [
      'keeps a part of a condition that no file declares any more',
      { node: node({ [US]: NOT_TIMES, [NPD]: TIMES }), types: ['B'] },
      'write B, keep A type status reason message',
    ],
    [
      'keeps all of a condition that another program created',
      { node: node({ [US]: ALL, [NPD]: ['type'] }), types: ['B'] },
      'write B, keep A type status reason message lastHeartbeatTime lastTransitionTime',
    ],
    [
      'removes a condition of its own that no file declares any more',
      { node: node({ [US]: ALL }), types: ['B'] },
      'write B, remove A',
    ],
    ['leaves the conditions of others', { node: node({ [NPD]: ALL }), types: ['B'] }, 'write B'],
    [
      'stands by while a heartbeat may still come',
      { node: node({ [NPD]: ALL }), silence: silence(359, undefined) },
      'write B, standby A: node-problem-detector writes it',
    ],
    [
      'takes over when a heartbeat is missing for a minute',
      { node: node({ [NPD]: ALL }), silence: silence(360, undefined) },
      'write A B, take over A',
    ],
    [
      'takes over then, also while a process of the program runs: it may write metrics only',
      { node: node({ [NPD]: ALL }), silence: silence(360, 0) },
      'write A B, take over A',
    ],
    [
      'takes over 45 seconds after the process ended',
      { node: node({ [NPD]: ALL }), silence: silence(300, 45) },
      'write A B, take over A',
    ],
    [
      'not earlier',
      { node: node({ [NPD]: ALL }), silence: silence(300, 44) },
      'write B, standby A: node-problem-detector writes it',
    ],
    [
      'not when it wrote since',
      { node: node({ [NPD]: ALL }), silence: silence(44, 300) },
      'write B, standby A: node-problem-detector writes it',
    ],
    [
      'writes what another program owns together with it: the agent wrote last',
      { node: node({ [US]: ALL, [NPD]: ALL }) },
      'write A B',
    ],
    [
      'stands by for a program that wrote without a heartbeat',
      { node: node({ [US]: ALL.filter((field) => field !== 'status'), kubectl: ['status'] }) },
      'write B, standby A: kubectl writes it, keep A type reason message lastHeartbeatTime lastTransitionTime',
    ],
  ])('AGT-72 has one writer for each condition: %s', (_, change, expected) => {
    const input = { node: node({}), types: ['A', 'B'], manager: US, silence: silence(0, undefined) };
    expect(planText({ ...input, ...change })).toBe(expected);
  });

  it('does not take a manager of the condition list, or of its own name but not by apply, for its writer', () => {
    const fieldsV1 = { 'f:status': { 'f:conditions': { '.': {} } } };
    const managedFields = [{ manager: NPD, operation: 'Update' as const, fieldsV1 }];
    const found = { ...node({}), metadata: { name: 'm', managedFields } };
    const input = { types: ['A'], manager: US, silence: silence(0, undefined) };
    expect(planText({ node: found, ...input })).toBe('write A');
    const [entry] = node({ [US]: ALL }).metadata.managedFields ?? [];
    const updated = [{ ...entry, manager: US, operation: 'Update' as const }];
    const byUpdate = { ...node({}), metadata: { name: 'm', managedFields: updated } };
    expect(planText({ node: byUpdate, ...input })).toBe('write , standby A: kubenode-agent writes it');
  });
});

function planText(input: WritersInput): string {
  const { write, takeOver, standby, keep, remove } = planWriters(input);
  const parts = [
    `write ${write.join(' ')}`,
    ...takeOver.map((type) => `take over ${type}`),
    ...standby.map(({ type, because }) => `standby ${type}: ${because}`),
    ...keep.map(({ type, ...rest }) => ['keep', type, 'type', ...Object.keys(rest)].join(' ')),
    ...remove.map((type) => `remove ${type}`),
  ];
  return parts.join(', ');
}

function silence(heartbeatSeconds: number, programSeconds: number | undefined): WritersInput['silence'] {
  return {
    heartbeatMs: () => heartbeatSeconds * 1000,
    programMs: () => programSeconds && programSeconds * 1000,
  };
}

/** With the condition A, whose fields these managers own. */
function node(owners: Readonly<Record<string, readonly string[]>>): NodeWithConditions {
  const managedFields = Object.entries(owners).map(([manager, fields]): ManagedFields => {
    const owned = Object.fromEntries(['.', ...fields.map((field) => `f:${field}`)].map((key) => [key, {}]));
    const operation = manager === US ? 'Apply' : 'Update';
    const fieldsV1 = { 'f:status': { 'f:conditions': { 'k:{"type":"A"}': owned } } };
    return { manager, operation, fieldsV1 };
  });
  const condition = { type: 'A', ...Object.fromEntries(ALL.slice(1).map((field) => [field, 'x'])) };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'm', managedFields },
    status: { conditions: managedFields.length > 0 ? [condition] : [] },
  };
}
