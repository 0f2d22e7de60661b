import { describe, expect, it } from 'vitest';
import type { RotationReport } from '../../../../../src/controllers/hosting/drivers/rotation.ts';
import type { HostingInput } from '../../../../../src/controllers/hosting/plan/input.ts';
import {
  holders,
  type RotationClients,
  rotationClients,
} from '../../../../../src/controllers/hosting/plan/rotation/clients.ts';
import {
  hostingInput,
  INSIDE,
  type InputParts,
  severalServers,
} from '../../../../support/hosting/objects.ts';

const ROTATION: RotationReport = {
  id: '2026',
  phase: 'IssueNew',
  isApplied: true,
  isEnding: false,
  hasIssued: true,
  behind: [],
  proofs: [],
  tokenKeyId: 'new',
};
const WRITTEN_AT = new Date('2030-01-01T00:00:00Z');
const BEFORE = { conditions: [], sync: { lastContactAt: '2029-12-31T23:59:59Z' } };
const AT_ONCE = { conditions: [], sync: { lastContactAt: '2030-01-01T00:00:00Z' } };
const AFTER = { conditions: [], sync: { lastContactAt: '2030-01-01T00:00:01Z' } };

function input({ plane, input: more, ...parts }: InputParts = {}): HostingInput {
  return hostingInput({
    ...parts,
    plane: { rotation: ROTATION, ...plane },
    input: { clients: { nodes: [], tokens: [] }, secretWrittenAt: WRITTEN_AT, ...more },
  });
}

function notStarted(...behind: readonly string[]): Pick<HostingInput['plane'], 'rotation'> {
  return { rotation: { ...ROTATION, behind } };
}

function token(name: string, keyId: string | undefined): Pick<HostingInput, 'clients'> {
  return { clients: { nodes: [], tokens: [{ name, keyId }] } };
}

describe('the clients of a rotation of authorities', () => {
  it.each<[what: string, parts: InputParts]>([
    ['an API server without an answer', { input: { inside: undefined } }],
    ['Nodes and Secrets without an answer', { input: { clients: undefined } }],
    ['a control plane without a rotation', { plane: { rotation: undefined } }],
  ])('HOS-22 counts no clients where they are unknown: %s', (_, parts) => {
    expect(rotationClients(input(parts))).toBeUndefined();
  });

  it.each<[what: string, parts: InputParts, total: number]>([
    ['the members', {}, 5],
    ['several API servers, and no balancer', { plane: { members: severalServers(2) } }, 6],
    ['sync that reached the cluster with its new Secret', { status: AFTER }, 6],
    ['a token of the new key', { input: token('default/bot', 'new') }, 6],
    ['no token that is not filled', { input: token('default/bot', undefined) }, 5],
    [
      'no balancer that was not started again',
      { plane: { members: severalServers(1), ...notStarted('kubenode-balancer') } },
      5,
    ],
    ['no member that this control plane does not have', { plane: notStarted('etcd-1') }, 5],
  ])('HOS-22 counts every client that has moved: %s', (_, parts, total) => {
    expect(rotationClients(input(parts))).toEqual<RotationClients>({ total, moved: total, behind: [] });
  });

  it.each<[what: string, parts: InputParts, expected: RotationClients]>([
    [
      'members in their own order',
      { plane: notStarted('kube-scheduler', 'etcd') },
      { total: 5, moved: 3, behind: ['etcd', 'kube-scheduler'] },
    ],
    [
      'sync that reached the cluster before its new Secret',
      { status: BEFORE },
      { total: 6, moved: 5, behind: ['sync'] },
    ],
    [
      'sync that reached the cluster in the same moment',
      { status: AT_ONCE },
      { total: 6, moved: 5, behind: ['sync'] },
    ],
    [
      'sync whose Secret is not written yet',
      { status: AFTER, input: { secret: 'Differs' } },
      { total: 6, moved: 5, behind: ['sync'] },
    ],
    [
      'sync whose Secret was written at an unknown time',
      { status: AFTER, input: { secretWrittenAt: undefined } },
      { total: 6, moved: 5, behind: ['sync'] },
    ],
    [
      'a token of the former key',
      { input: token('default/bot', 'old') },
      { total: 6, moved: 5, behind: ['Secret default/bot'] },
    ],
    [
      'a token while the new key is unknown',
      { plane: { rotation: { ...ROTATION, tokenKeyId: undefined } }, input: token('default/bot', 'new') },
      { total: 6, moved: 5, behind: ['Secret default/bot'] },
    ],
    [
      'Machines and Nodes, which never count as moved',
      {
        input: {
          inside: { ...INSIDE, machines: ['m-1'] },
          clients: { nodes: ['worker-1', 'worker-2'], tokens: [] },
        },
      },
      { total: 8, moved: 5, behind: ['Machine m-1', 'Node worker-1', 'Node worker-2'] },
    ],
    [
      'one of each kind, beside a token that has moved',
      {
        status: BEFORE,
        plane: notStarted('etcd'),
        input: {
          inside: { ...INSIDE, machines: ['m-1'] },
          clients: {
            nodes: ['worker-1'],
            tokens: [
              { name: 'default/bot', keyId: 'old' },
              { name: 'default/new-bot', keyId: 'new' },
            ],
          },
        },
      },
      {
        total: 10,
        moved: 5,
        behind: ['etcd', 'sync', 'Secret default/bot', 'Machine m-1', 'Node worker-1'],
      },
    ],
  ])('HOS-22 names each client that has not moved: %s', (_, parts, expected) => {
    expect(rotationClients(input(parts))).toEqual(expected);
  });

  it.each<[what: string, parts: Pick<HostingInput, 'inside' | 'clients'>, expected: readonly string[]]>([
    ['none where neither is known', { inside: undefined }, []],
    ['none in a cluster without them', { inside: INSIDE, clients: { nodes: [], tokens: [] } }, []],
    [
      'Machines while the Nodes are unknown',
      { inside: { ...INSIDE, machines: ['m-1'] }, clients: undefined },
      ['Machine m-1'],
    ],
    [
      'Nodes while the Machines are unknown',
      { inside: undefined, clients: { nodes: ['worker-1'], tokens: [] } },
      ['Node worker-1'],
    ],
    [
      'Machines before Nodes',
      { inside: { ...INSIDE, machines: ['m-1'] }, clients: { nodes: ['worker-1'], tokens: [] } },
      ['Machine m-1', 'Node worker-1'],
    ],
  ])('HOS-22 lists who keeps the former authority: %s', (_, parts, expected) => {
    expect(holders(parts)).toEqual(expected);
  });
});
