import { describe, expect, it } from 'vitest';
import {
  type InfraObservation,
  infraFindings,
  infraStatus,
} from '../../../../src/controllers/machine/instance/findings.ts';
import type { Instance } from '../../../../src/providers/contract.ts';
import { ago, machine, NOW } from '../../../support/builders.ts';

const TAGS = { clusterUid: 'c', machineUid: 'u' };
const INSTANCE: Instance = {
  id: 'local:///1',
  machine: 'm',
  tags: TAGS,
  state: 'Running',
  zone: 'z',
  addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
  createdAt: NOW,
};

function observed(instance: Instance | undefined, because = 'so it is'): InfraObservation {
  return { host: 'Instance', instance, because, now: NOW };
}

function withInfra(seconds: number): ReturnType<typeof machine> {
  const infra = { providerID: 'local:///1', state: 'Running', createdAt: ago(seconds) } as const;
  return machine('m', { status: { infra } });
}

describe('infraFindings', () => {
  it('MAC-35 names the object that holds a creation, and without one the provider', () => {
    const explanation = { reason: 'ArtifactMissing', because: 'x' };
    const blocker = { kind: 'MachineComponent', name: 'kubelet-1' };
    const held = [{ ...explanation, blocker }, explanation].map((each) =>
      infraFindings(machine('m'), { host: 'Held', explanation: each }).at(-1),
    );
    expect(held.map((each) => each?.blocker)).toEqual([
      blocker,
      { kind: 'Provider', name: machine('m').spec.infra.provider },
    ]);
  });

  it.each<[name: string, observation: InfraObservation, want: string]>([
    ['a host that joins by itself', { host: 'JoinsByItself' }, 'True AsWanted, True HostJoins'],
    [
      'a machine of another system',
      { host: 'Followed', object: { namespace: 'n', name: 'm', providerID: 'i://1' } },
      'True AsWanted, True Followed',
    ],
    ['a provider of a later version', { host: 'NotSupported' }, 'Unknown NotSupported, False NotSupported'],
    [
      'a provider that this process does not run',
      { host: 'NotOpen', hint: 'run it' },
      'Unknown ProviderMissing, False ProviderMissing',
    ],
    [
      'a creation that is held',
      { host: 'Held', explanation: { reason: 'ArtifactMissing', because: 'x' } },
      'True AsWanted, False ArtifactMissing',
    ],
    ['a refused config', { host: 'ConfigRefused', because: 'x' }, 'False InvalidConfig, False InvalidConfig'],
    [
      'a failed call',
      { host: 'Failed', error: { reason: 'Quota', message: 'full' } },
      'True AsWanted, Unknown Quota',
    ],
    ['an instance that runs', observed(INSTANCE), 'True AsWanted, True AsWanted'],
    [
      'an instance whose host never joined',
      { host: 'Instance', instance: INSTANCE, because: 'so it is', reason: 'NeverJoined', now: NOW },
      'True AsWanted, False NeverJoined',
    ],
    [
      'an instance that starts',
      observed({ ...INSTANCE, state: 'Pending' }),
      'True AsWanted, False InstancePending',
    ],
    [
      'an instance that is stopped',
      observed({ ...INSTANCE, state: 'Stopped' }),
      'True AsWanted, False InstanceStopped',
    ],
    ['an instance that ended', observed({ ...INSTANCE, state: 'Gone' }), 'True AsWanted, False InstanceGone'],
    [
      'an instance in doubt',
      observed({ ...INSTANCE, state: 'Unknown' }),
      'True AsWanted, Unknown InstanceUnknown',
    ],
    ['no instance yet', observed(undefined), 'True AsWanted, False NotCreated'],
    [
      'a config that became invalid',
      { ...observed(INSTANCE), configReason: 'x' } as InfraObservation,
      'False InvalidConfig, True AsWanted',
    ],
  ])('explains %s', (_, observation, want) => {
    const findings = infraFindings(machine('m'), observation);
    expect(findings.map(({ type }) => type)).toEqual(['InfraConfigValid', 'InfraReady']);
    expect(findings.map(({ status, reason }) => `${status} ${reason}`).join(', ')).toBe(want);
  });

  it.each([
    [59, 'Unknown NotListed'],
    [60, 'False InstanceMissing'],
  ])('takes an instance that is not listed %s s after its creation for %s', (seconds, want) => {
    const [, ready] = infraFindings(withInfra(seconds), observed(undefined));
    expect(`${ready?.status} ${ready?.reason}`).toBe(want);
  });

  it('explains why there is no instance', () => {
    const [, ready] = infraFindings(machine('m'), observed(undefined, 'the machine is held'));
    expect(ready?.message).toBe('the machine is held');
  });
});

describe('infraStatus', () => {
  it('describes the instance', () => {
    expect(infraStatus(machine('m'), observed(INSTANCE))).toEqual({
      providerID: 'local:///1',
      state: 'Running',
      zone: 'z',
      addresses: INSTANCE.addresses,
      createdAt: NOW.toISOString(),
    });
  });

  it.each([
    ['has the id of the instance that another system has', machine('m'), 'i://1'],
    ['keeps the id that was recorded first', withInfra(5), 'local:///1'],
  ])('%s', (_, object, expected) => {
    const followed = { namespace: 'n', name: 'm', providerID: 'i://1' };
    expect(infraStatus(object, { host: 'Followed', object: followed })).toEqual({ providerID: expected });
  });

  it('never changes an id', () => {
    const status = infraStatus(withInfra(5), observed({ ...INSTANCE, id: 'local:///2' }));
    expect(status?.providerID).toBe('local:///1');
  });

  it.each<[name: string, observation: InfraObservation, state: string]>([
    ['a call that failed', { host: 'Failed', error: { reason: 'Auth', message: 'x' } }, 'Running'],
    ['a provider that this process does not run', { host: 'NotOpen', hint: 'run it' }, 'Running'],
    ['an instance that does not exist any more', observed(undefined), 'Gone'],
  ])('keeps the id after %s', (_, observation, state) => {
    expect(infraStatus(withInfra(100), observation)).toMatchObject({ providerID: 'local:///1', state });
  });

  it('is Unknown, not Gone, for a minute', () => {
    expect(infraStatus(withInfra(59), observed(undefined))?.state).toBe('Unknown');
  });

  it('is empty without an instance', () => {
    expect(infraStatus(machine('m'), observed(undefined))).toBeUndefined();
  });
});
