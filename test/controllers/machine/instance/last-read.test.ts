import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { type LastRead, unchangedInstance } from '../../../../src/controllers/machine/instance/last-read.ts';
import type { Instance } from '../../../../src/providers/contract.ts';
import { ago, machine, NOW } from '../../../support/builders.ts';

const ID = 'aws:///us-east-1a/i-0123456789abcdef0';

interface Parts {
  readonly agentReady?: 'True' | 'False' | 'Unknown';
  readonly providerID?: string;
  readonly generation?: number;
  readonly state?: Instance['state'];
  readonly seconds?: number;
  readonly isKnown?: boolean;
}

function isUnchanged({
  agentReady = 'True',
  providerID = ID,
  generation = 1,
  state = 'Running',
  seconds = 60,
  isKnown = true,
}: Parts): boolean {
  const tags = { clusterUid: 'c', machineUid: 'u' };
  const instance: Instance = { id: ID, machine: 'm', tags, state, addresses: [], createdAt: NOW };
  const lastRead: LastRead = { instance, generation: 1, at: new Date(ago(seconds)) };
  const condition = {
    type: 'AgentReady',
    status: agentReady,
    reason: 'X',
    message: '',
    lastTransitionTime: ago(0),
  };
  const object: Machine = machine('m', {
    metadata: { generation },
    status: { infra: { providerID }, conditions: [condition] },
  });
  return unchangedInstance(object, isKnown ? lastRead : undefined, NOW) !== undefined;
}

describe('unchangedInstance', () => {
  it.each<[name: string, parts: Parts, expected: boolean]>([
    ['an instance whose agent is alive', {}, true],
    ['for an hour', { seconds: 3599 }, true],
    ['not after it', { seconds: 3600 }, false],
    ['not after the clock went back', { seconds: -1 }, false],
    ['not when the agent is silent', { agentReady: 'False' }, false],
    ['not when nothing is known of the agent', { agentReady: 'Unknown' }, false],
    ['not after the spec was changed', { generation: 2 }, false],
    ['not when it is another instance', { providerID: 'aws:///us-east-1a/i-0a' }, false],
    ['not while it did not run', { state: 'Unknown' }, false],
    ['not before this process has read it', { isKnown: false }, false],
  ])('needs no other read of %s', (_, parts, expected) => {
    expect(isUnchanged(parts)).toBe(expected);
  });
});
