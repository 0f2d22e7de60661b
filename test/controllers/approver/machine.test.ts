import { describe, expect, it } from 'vitest';
import type { Claim } from '../../../src/controllers/approver/claim.ts';
import { machineChecks, namedUids } from '../../../src/controllers/approver/machine.ts';
import type { ApproverInput } from '../../../src/controllers/approver/observe.ts';
import { NOW } from '../../support/virtual-clock.ts';

interface ClaimParts {
  readonly requester?: Claim['requester'];
  readonly machineUid?: string;
  readonly groups?: readonly string[];
  readonly ageSeconds?: number;
}

function claim({ requester = 'Agent', machineUid, groups = [], ageSeconds = 60 }: ClaimParts = {}): Claim {
  const createdAt = new Date(NOW.getTime() - ageSeconds * 1000);
  return { machine: 'm', requester, request: { machineUid, groups, createdAt } } as unknown as Claim;
}

function objections(parts: ClaimParts, metadata?: object): readonly string[] {
  const machine = metadata && { metadata: { name: 'm', uid: 'u1', ...metadata } };
  const input = { now: NOW, machine: () => machine } as unknown as ApproverInput;
  return machineChecks.flatMap((check) => {
    const objection = check(claim(parts), input);
    return objection ? [`${objection.reason}${objection.until ? ' for now' : ''}`] : [];
  });
}

const OWN = { machineUid: 'u1' };

describe('machineChecks', () => {
  it.each<[string, ClaimParts, object | undefined, readonly string[]]>([
    ['its own Machine', OWN, {}, []],
    ['no Machine', OWN, undefined, ['MachineNotFound', 'WrongUid']],
    [
      'no Machine that our view has yet',
      { ...OWN, ageSeconds: 1 },
      undefined,
      ['MachineNotFound for now', 'WrongUid for now'],
    ],
    ['a Machine of another UID', { machineUid: 'u0' }, {}, ['WrongUid']],
    ['a Machine that is not named', {}, {}, ['WrongUid']],
    ['a Machine that is being deleted', OWN, { deletionTimestamp: 'x' }, ['MachineDeleting']],
    ['a blocked agent', OWN, { labels: { 'kubenode.dev/agent-blocked': 'Lost' } }, ['AgentBlocked']],
  ])('MAC-14 object where they should to a request for %s', (_, parts, metadata, expected) => {
    expect(objections(parts, metadata)).toEqual(expected);
  });
});

describe('namedUids', () => {
  const groups = ['system:bootstrappers:kubenode:u1', 'system:bootstrappers:kubenode:u2', 'other'];

  it.each<[string, ClaimParts, readonly string[]]>([
    [
      'proven by the groups of a token, whatever the request names',
      { requester: 'Token', groups, machineUid: 'u3' },
      ['u1', 'u2'],
    ],
    ['named by an agent, whatever its groups are', { groups, machineUid: 'u3' }, ['u3']],
    ['named by an import', { requester: 'Import', machineUid: 'u3' }, ['u3']],
    ['missing', { groups }, []],
  ])('returns those %s', (_, parts, expected) => {
    expect(namedUids(claim(parts))).toEqual(expected);
  });
});
