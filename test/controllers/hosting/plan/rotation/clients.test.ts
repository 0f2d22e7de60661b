import { describe, expect, it } from 'vitest';
import type { RotationReport } from '../../../../../src/controllers/hosting/drivers/rotation.ts';
import type { HostingInput } from '../../../../../src/controllers/hosting/plan/input.ts';
import {
  type RotationClients,
  rotationClients,
  rotationNodes,
} from '../../../../../src/controllers/hosting/plan/rotation/clients.ts';
import { hostingInput, type InputParts, severalServers } from '../../../../support/hosting/objects.ts';

const ROTATION: RotationReport = {
  id: '2026',
  phase: 'IssueNew',
  isApplied: true,
  isEnding: false,
  isSigned: true,
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
    input: { clients: { nodes: [], machines: [], tokens: [] }, secretWrittenAt: WRITTEN_AT, ...more },
  });
}

function waits(name: string): RotationClients['behind'][number] {
  return { name, remedy: 'Wait' };
}

function notStarted(...behind: readonly string[]): Pick<HostingInput['plane'], 'rotation'> {
  return { rotation: { ...ROTATION, behind } };
}

function token(name: string, keyId: string | undefined): Pick<HostingInput, 'clients'> {
  return { clients: { nodes: [], machines: [], tokens: [{ name, keyId }] } };
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
      { total: 5, moved: 3, behind: [waits('etcd'), waits('kube-scheduler')] },
    ],
    [
      'sync that reached the cluster before its new Secret',
      { status: BEFORE },
      { total: 6, moved: 5, behind: [{ name: 'sync', remedy: 'Reach' }] },
    ],
    [
      'sync that reached the cluster in the same moment',
      { status: AT_ONCE },
      { total: 6, moved: 5, behind: [{ name: 'sync', remedy: 'Reach' }] },
    ],
    [
      'sync whose Secret is not written yet',
      { status: AFTER, input: { secret: 'Differs' } },
      { total: 6, moved: 5, behind: [{ name: 'sync', remedy: 'Reach' }] },
    ],
    [
      'sync whose Secret was written at an unknown time',
      { status: AFTER, input: { secretWrittenAt: undefined } },
      { total: 6, moved: 5, behind: [{ name: 'sync', remedy: 'Reach' }] },
    ],
    [
      'a token of the former key',
      { input: token('default/bot', 'old') },
      { total: 6, moved: 5, behind: [{ name: 'Secret default/bot', remedy: 'Fill' }] },
    ],
    [
      'a token while the new key is unknown',
      { plane: { rotation: { ...ROTATION, tokenKeyId: undefined } }, input: token('default/bot', 'new') },
      { total: 6, moved: 5, behind: [{ name: 'Secret default/bot', remedy: 'Fill' }] },
    ],
    [
      'one of each kind, beside a token that has moved',
      {
        status: BEFORE,
        plane: notStarted('etcd'),
        input: {
          clients: {
            nodes: ['worker-1'],
            machines: [],
            tokens: [
              { name: 'default/bot', keyId: 'old' },
              { name: 'default/new-bot', keyId: 'new' },
            ],
          },
        },
      },
      {
        total: 9,
        moved: 5,
        behind: [
          waits('etcd'),
          { name: 'sync', remedy: 'Reach' },
          { name: 'Secret default/bot', remedy: 'Fill' },
          { name: 'Node worker-1', because: 'it has no Machine', remedy: 'Replace' },
        ],
      },
    ],
  ])('HOS-22 names each client that has not moved: %s', (_, parts, expected) => {
    expect(rotationClients(input(parts))).toEqual(expected);
  });

  it('HOS-22 counts agents and kubelets alone before anything is issued', () => {
    const clients = { nodes: ['worker-1'], machines: [], tokens: [{ name: 'default/bot', keyId: 'old' }] };
    expect(rotationNodes(input({ status: BEFORE, input: { clients } }))).toEqual({
      total: 1,
      moved: 0,
      behind: [{ name: 'Node worker-1', because: 'it has no Machine', remedy: 'Replace' }],
    });
    expect(rotationNodes(input({ input: { clients: undefined } }))).toBeUndefined();
  });
});
