import { describe, expect, it } from 'vitest';
import {
  type NodeWithConditions,
  planWriters,
  type WritersInput,
} from '../../../../src/agent/detector/report/writers.ts';
import { NOW } from '../../../support/virtual-clock.ts';

const US = 'kubenode-agent';
const NPD = 'node-problem-detector';

describe('writers', () => {
  it.each<[string, Partial<WritersInput>, string]>([
    ['writes a condition that is not there', {}, 'write A B'],
    ['writes what it wrote before', { node: node(US, 60) }, 'write A B'],
    [
      'stands by for a condition of another program',
      { node: node(NPD, 60) },
      'write B, standby A: node-problem-detector writes it',
    ],
    [
      'until its last heartbeat is 15 minutes old',
      { node: node(NPD, 899) },
      'write B, standby A: node-problem-detector writes it',
    ],
    ['takes it over then', { node: node(NPD, 900) }, 'write A B, take over A'],
    ['takes over what has no time at all', { node: node(NPD) }, 'write A B, take over A'],
    [
      'writes nothing while node-problem-detector runs here, also when its heartbeat is old',
      { node: node(NPD, 900), otherDetectorRuns: true },
      'write , standby A: node-problem-detector runs on this host, standby B: node-problem-detector runs on this host',
    ],
  ])('AGT-72 has one writer for each condition: %s', (_, change, expected) => {
    const input = { node: node(), types: ['A', 'B'], manager: US, otherDetectorRuns: false, now: NOW };
    const { write, takeOver, standby } = planWriters({ ...input, ...change });
    const parts = [
      `write ${write.join(' ')}`,
      ...takeOver.map((type) => `take over ${type}`),
      ...standby.map(({ type, because }) => `standby ${type}: ${because}`),
    ];
    expect(parts.join(', ')).toBe(expected);
  });

  it('does not take a manager of other fields of the condition list for its writer', () => {
    const metadata = {
      name: 'm',
      managedFields: [
        { manager: NPD, operation: 'Update' as const, fieldsV1: { 'f:status': { 'f:conditions': {} } } },
      ],
    };
    const found: NodeWithConditions = { ...node(), metadata };
    const input = { node: found, types: ['A'], manager: US, otherDetectorRuns: false, now: NOW };
    expect(planWriters(input).write).toEqual(['A']);
  });
});

function node(manager?: string, ageSeconds?: number): NodeWithConditions {
  const fields = { 'k:{"type":"A"}': { '.': {}, 'f:status': {}, 'f:type': {} } };
  const managedFields = manager
    ? [{ manager, operation: 'Update' as const, fieldsV1: { 'f:status': { 'f:conditions': fields } } }]
    : [];
  const at =
    ageSeconds === undefined
      ? {}
      : { lastHeartbeatTime: new Date(NOW.getTime() - ageSeconds * 1000).toISOString() };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'm', managedFields },
    status: { conditions: [{ type: 'A', ...at }] },
  };
}
