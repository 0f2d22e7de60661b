import { describe, expect, it } from 'vitest';
import type { Instance } from '../../../src/providers/contract.ts';
import { openInstanceSwitch } from '../../../src/providers/power/instance-switch.ts';
import type { PowerState, PowerSwitch } from '../../../src/providers/power.ts';
import { machine, NOW } from '../../support/builders.ts';
import { type MemoryProvider, memoryProvider } from '../../support/memory-provider.ts';

const ID = 'local:///u-1';
const NEVER = new AbortController().signal;
const HOST = machine('m1', { metadata: { uid: 'u-1' }, status: { infra: { providerID: ID } } });

/** A provider whose instances stay off, as those of clouds do. */
function cloud(): MemoryProvider {
  const provider = memoryProvider(() => NOW);
  return Object.assign(provider, { capabilities: { ...provider.capabilities, startsStopped: false } });
}

function started(state: Instance['state'] = 'Running'): MemoryProvider {
  const provider = cloud();
  const tags = { clusterUid: 'c', machineUid: 'u-1' };
  provider.instances.set(ID, { id: ID, machine: 'm1', tags, state, addresses: [], createdAt: NOW });
  return provider;
}

function open(provider: MemoryProvider, host = HOST): PowerSwitch {
  const found = openInstanceSwitch(host, { local: provider });
  if ('because' in found) throw new Error(found.because);
  return found;
}

describe('the power switch of an instance', () => {
  it.each<[Instance['state'], PowerState]>([
    ['Running', 'On'],
    ['Stopped', 'Off'],
    ['Pending', 'Changing'],
    ['Unknown', 'Unknown'],
  ])('reads the state %s as %s', async (state, expected) => {
    expect(await open(started(state)).state(NEVER)).toBe(expected);
  });

  it('has no state for an instance that does not exist: it is not off', async () => {
    const provider = started('Gone');
    await expect(open(provider).state(NEVER)).rejects.toThrow('instance local:///u-1 does not exist');
    provider.instances.clear();
    await expect(open(provider).state(NEVER)).rejects.toMatchObject({ code: 'NotFound' });
  });

  it('requests a state once, and nothing when the instance has it', async () => {
    const provider = started();
    await open(provider).request('Off', NEVER);
    await open(provider).request('Off', NEVER);
    await open(provider).request('On', NEVER);
    expect(provider.calls).toEqual(['get', 'power off', 'get', 'get', 'power on']);
  });

  it('neither reads nor switches an instance whose tags name another Machine', async () => {
    const provider = started();
    const other = machine('m1', { metadata: { uid: 'u-2' }, status: { infra: { providerID: ID } } });
    const power = open(provider, other);
    await expect(power.state(NEVER)).rejects.toMatchObject({ reason: 'InstanceOfAnotherMachine' });
    await expect(power.request('Off', NEVER)).rejects.toThrow('the UID of another Machine than m1');
    expect(provider.calls).toEqual(['get', 'get']);
  });

  it('passes the errors of the provider on', async () => {
    const provider = started();
    provider.fault = () => 'Throttled';
    await expect(open(provider).request('Off', NEVER)).rejects.toMatchObject({ retryAfterSeconds: 7 });
  });
});

describe('a machine without a switch of its provider', () => {
  const provider = cloud();
  it.each([
    [
      'whose provider is not open',
      HOST,
      {},
      'provider local of Machine m1 is not open here: run kubenode controllers with --local-machines',
    ],
    ['without instance', machine('m1'), { local: provider }, 'Machine m1 has no instance'],
    [
      'whose provider switches no power',
      HOST,
      { local: { ...provider, capabilities: { ...provider.capabilities, power: false } } },
      'provider local of Machine m1 cannot switch power',
    ],
    [
      'whose instances are started again when they stop',
      HOST,
      { local: memoryProvider(() => NOW) },
      'the machine controller starts each stopped instance of provider local: Machine m1 would not stay off',
    ],
  ])('%s is explained', (_, host, providers, because) => {
    const found = openInstanceSwitch(host, providers);
    expect('because' in found ? found.because : 'it has a switch').toContain(because);
  });
});
