import { describe, expect, it } from 'vitest';
import { needsGrant, withSettlement } from '../../../../src/controllers/hosting/plan/grants.ts';
import type { HostingDecision } from '../../../../src/controllers/hosting/plan/input.ts';
import { wait } from '../../../../src/controllers/hosting/plan/wait.ts';
import {
  decisionText,
  hostingInput,
  type InputParts,
  members,
  NOTHING,
} from '../../../support/hosting/objects.ts';

const HELD = { grant: { id: 'g-1', fence: 1 } };
const DELETED = { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } };
const STOPPED = { plane: { members: members({ etcd: { state: 'Stopped' } }) } };
const SETTLE = 'SettleGrant: the act that the Defender permitted is over';
const RELEASE: HostingDecision = { act: { type: 'RemoveFinalizer', because: 'x' } };
const STOP: HostingDecision = { act: { type: 'Stop', member: 'etcd', because: 'x' } };
const START: HostingDecision = { act: { type: 'Start', member: 'etcd', because: 'x' } };
const CHANGE: HostingDecision = {
  act: { type: 'Change', member: 'etcd', run: { flags: {} }, because: 'x' },
};
const REMOVE: HostingDecision = { act: { type: 'Remove', because: 'x' } };
const WAIT: HostingDecision = { wait: wait('NotSupported', 'x', ['Cluster', 'ci'], 'stalled') };

describe('the grant of a hosted control plane', () => {
  it.each([
    ['BeginDestroy', true],
    ['Remove', true],
    ['Prepare', false],
    ['DeleteSecret', false],
    ['RemoveFinalizer', false],
    ['SettleGrant', false],
  ] as const)('is asked for before %s: %s', (type, expected) => {
    expect(needsGrant({ type, because: 'x' })).toBe(expected);
  });

  it('is asked for before a member is stopped or changed, and not before one is started', () => {
    const remove = { type: 'RemoveEtcdMember', member: 'etcd-1', because: 'x' } as const;
    const add = { type: 'AddEtcdMember', member: 'etcd-1', because: 'x' } as const;
    expect([remove, add].map(needsGrant)).toEqual([true, false]);
    expect([STOP, CHANGE, START].map(({ act }) => act && needsGrant(act))).toEqual([true, true, false]);
  });

  it.each<readonly [string, InputParts, HostingDecision, string]>([
    ['everything runs again', {}, {}, SETTLE],
    ['everything runs, and a person is needed for something else', {}, WAIT, SETTLE],
    ['the next stop is due', {}, STOP, 'Stop etcd: x'],
    ['the member that was stopped is started', STOPPED, START, 'Start etcd: x'],
    ['it is being destroyed', DELETED, STOP, 'Stop etcd: x'],
    ['it is being destroyed, and waits', DELETED, WAIT, 'stalled NotSupported'],
    ['its folder is removed', { ...DELETED, plane: NOTHING }, REMOVE, 'Remove: x'],
    ['nothing is left but the finalizer', { ...DELETED, plane: NOTHING }, RELEASE, SETTLE],
  ])('is given back as planned when %s', (_, parts, decision, expected) => {
    const held = hostingInput({ ...parts, input: HELD });
    expect(decisionText(withSettlement(held, decision))).toBe(expected);
    expect(withSettlement(hostingInput(parts), decision)).toBe(decision);
  });
});
