import { describe, expect, it } from 'vitest';
import { claimOf, isOurs } from '../../../src/controllers/approver/claim.ts';
import type { AgentRequest } from '../../../src/controllers/approver/observe.ts';

const AGENT = 'kubernetes.io/kube-apiserver-client';
const KUBELET = 'kubernetes.io/kube-apiserver-client-kubelet';

function request(
  change: Partial<AgentRequest> & { readonly cn?: string; readonly o?: string },
): AgentRequest {
  const { cn, o = 'team', ...rest } = change;
  const content = cn === undefined ? undefined : { commonNames: [cn], organizations: [o] };
  return { signer: AGENT, username: 'anna', groups: [], content, ...rest } as unknown as AgentRequest;
}

const agent = { username: 'kubenode:agent:n17', groups: ['kubenode:agents'] };
const token = { username: 'system:bootstrap:abc123', groups: ['system:bootstrappers:kubenode:uid-17'] };
const importer = { username: 'system:serviceaccount:kubenode-system:kubenode-machine' };

describe('isOurs', () => {
  it.each<[string, AgentRequest, boolean]>([
    ['of an agent, whatever its name', request({ ...agent, cn: 'anna' }), true],
    ['of an agent that cannot be parsed', request(agent), true],
    ['of a token for a Machine', request({ ...token, cn: 'anna' }), true],
    ['of the machine controller', request({ ...importer, cn: 'anna' }), true],
    ['of a person for an agent', request({ cn: 'kubenode:agent:n17' }), true],
    ['of a person for the group of agents', request({ cn: 'anna', o: 'kubenode:agents' }), true],
    ['of a user in the group of agents', request({ cn: 'anna', groups: ['kubenode:agents'] }), true],
    ['of a person', request({ cn: 'anna' }), false],
    ['of a person for a node', request({ cn: 'system:node:n17', o: 'system:nodes', signer: KUBELET }), false],
    [
      'of a token of kubeadm',
      request({ username: 'system:bootstrap:x', groups: ['system:bootstrappers:kubeadm'], cn: 'x' }),
      false,
    ],
    [
      'of a group that only begins like ours',
      request({ groups: ['system:bootstrappers:kubenode2'], cn: 'x' }),
      false,
    ],
    [
      'of an agent, with another signer',
      request({ ...agent, signer: 'kubernetes.io/kubelet-serving' }),
      false,
    ],
  ])('tells of a request %s', (_, asked, expected) => {
    expect(isOurs(asked)).toBe(expected);
  });
});

describe('claimOf', () => {
  it.each<[string, AgentRequest, object]>([
    [
      'an agent, for itself',
      request({ ...agent, cn: 'kubenode:agent:n17' }),
      {
        requester: 'Agent',
        machine: 'n17',
        isKubelet: false,
        name: { commonName: 'kubenode:agent:n17', organization: 'kubenode:agents' },
      },
    ],
    [
      'an agent, for its kubelet',
      request({ ...agent, cn: 'system:node:n17', signer: KUBELET }),
      {
        requester: 'Agent',
        machine: 'n17',
        isKubelet: true,
        name: { commonName: 'system:node:n17', organization: 'system:nodes' },
      },
    ],
    ['a token', request({ ...token, cn: 'kubenode:agent:n17' }), { requester: 'Token', machine: 'n17' }],
    [
      'an import',
      request({ ...importer, cn: 'kubenode:agent:n17' }),
      { requester: 'Import', machine: 'n17' },
    ],
    [
      'an agent, for another one',
      request({ ...agent, cn: 'kubenode:agent:n18' }),
      { reason: 'OtherMachine' },
    ],
    [
      'an agent whose name begins like another one',
      request({ ...agent, cn: 'kubenode:agent:n1' }),
      { reason: 'OtherMachine' },
    ],
    [
      'a token, for a kubelet',
      request({ ...token, cn: 'system:node:n17', signer: KUBELET }),
      { reason: 'RequesterNotAllowed' },
    ],
    ['a person', request({ cn: 'kubenode:agent:n17' }), { reason: 'RequesterNotAllowed' }],
    ['no name', request(agent), { reason: 'WrongName' }],
  ])('reads %s', (_, asked, expected) => {
    expect(claimOf(asked)).toMatchObject(expected);
  });
});
