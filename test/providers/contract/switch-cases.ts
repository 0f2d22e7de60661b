/** The power switch by which repairs and people reach an instance, over the provider itself. */
import { describe, expect, it } from 'vitest';
import { pollUntil } from '../../../src/os/poll.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { openInstanceSwitch } from '../../../src/providers/power/instance-switch.ts';
import type { NoPowerSwitch, PowerState, PowerSwitch } from '../../../src/providers/power.ts';
import { machine } from '../../support/builders.ts';
import { type ContractCase, instanceOf, type OpenCase } from './case.ts';
import { type ContractProvider, NEVER } from './harness.ts';

interface SwitchedInstance {
  readonly id: string;
  readonly uid: string;
}

export function describeSwitch(open: OpenCase, { entry, withoutFaults }: ContractProvider): void {
  const { power, startsStopped } = entry.capabilities;
  describe('has a power switch that', () => {
    if (!power || startsStopped) describeRefusal(open, power);
    else {
      describeReads(open);
      describeRequests(open);
      if (withoutFaults.AnswerLost === undefined) describeLostAnswers(open);
    }
  });
}

function describeRefusal(open: OpenCase, power: boolean): void {
  const reason = power ? /starts each stopped instance/ : /cannot switch power/;
  it('is refused, because no repair could rely on it', async () => {
    const one = open();
    const found = openOf(one, await one.create());
    expect('because' in found ? found.because : 'it has a switch').toMatch(reason);
  });
}

function describeReads(open: OpenCase): void {
  it('reads On, Off for a host that ended by itself, and no state of a deleted instance', async () => {
    const one = open();
    const created = await one.create();
    const power = switchOf(one, created);
    expect(await stateAfter(power, 'On')).toBe('On');
    await one.harness.crash(created.uid);
    expect(await stateAfter(power, 'Off')).toBe('Off');
    await one.provider.delete(created.id, NEVER);
    await expect(power.state(NEVER)).rejects.toMatchObject({ code: 'NotFound' });
  });

  it('neither reads nor switches the instance of another Machine', async () => {
    const one = open();
    const { id, uid } = await one.create();
    const power = switchOf(one, { id, uid: '00000000-0000-4000-8000-000000000000' });
    const refused = { code: 'Terminal', reason: 'InstanceOfAnotherMachine' };
    await expect(power.state(NEVER)).rejects.toMatchObject(refused);
    await expect(power.request('Off', NEVER)).rejects.toMatchObject(refused);
    expect(await one.harness.countHosts(uid)).toBe(1);
  });
}

function describeRequests(open: OpenCase): void {
  it('cycles by Off, which is read back, and On, and the host keeps its id and addresses', async () => {
    const one = open();
    const created = await one.create();
    const before = await instanceOf(one, created.id);
    const power = switchOf(one, created);
    await power.request('Off', NEVER);
    expect([await stateAfter(power, 'Off'), await one.harness.countHosts(created.uid)]).toEqual(['Off', 0]);
    await power.request('On', NEVER);
    expect([await stateAfter(power, 'On'), await one.harness.countHosts(created.uid)]).toEqual(['On', 1]);
    expect(await instanceOf(one, created.id)).toEqual(before);
  });

  it('changes nothing by a request for the state that it has', async () => {
    const one = open();
    const created = await one.create();
    const power = switchOf(one, created);
    await power.request('On', NEVER);
    expect(await one.harness.countHosts(created.uid)).toBe(1);
    await power.request('Off', NEVER);
    expect(await stateAfter(power, 'Off')).toBe('Off');
    await power.request('Off', NEVER);
    expect(await stateAfter(power, 'Off')).toBe('Off');
  });

  it('switches one host, and leaves the others on', async () => {
    const one = open();
    const [first, second] = [await one.create(), await one.create()];
    await switchOf(one, first).request('Off', NEVER);
    expect(await stateAfter(switchOf(one, first), 'Off')).toBe('Off');
    expect(await switchOf(one, second).state(NEVER)).toBe('On');
  });
}

function describeLostAnswers(open: OpenCase): void {
  it.each(['Off', 'On'] as const)(
    'has carried %s out when the answer was lost, and reads it',
    async (wanted) => {
      const one = open();
      const created = await one.create();
      const power = switchOf(one, created);
      if (wanted === 'On') {
        await power.request('Off', NEVER);
        await stateAfter(power, 'Off');
      }
      await one.harness.inject('AnswerLost', 'power');
      await expect(power.request(wanted, NEVER)).rejects.toMatchObject({ code: 'Retryable' });
      expect([await stateAfter(power, wanted), await one.harness.countHosts(created.uid)]).toEqual([
        wanted,
        wanted === 'On' ? 1 : 0,
      ]);
    },
  );

  it('has no state while the answer is lost: it is not off', async () => {
    const one = open();
    const created = await one.create();
    await one.harness.inject('AnswerLost', 'get');
    await expect(switchOf(one, created).state(NEVER)).rejects.toMatchObject({ code: 'Retryable' });
  });
}

/** The longest that a cloud takes. */
const SWITCH_MS = 600_000;
const POLL_MS = 1000;

/** Returns the state that is expected as soon as it is read, or the last one. */
async function stateAfter(power: PowerSwitch, expected: PowerState): Promise<PowerState> {
  const clock = createSystemClock();
  let state: PowerState = 'Unknown';
  const isReached = async (): Promise<boolean> => {
    state = await power.state(NEVER);
    return state === expected;
  };
  const deadlineMs = clock.monotonicMs() + SWITCH_MS;
  await pollUntil(isReached, { clock, everyMs: POLL_MS, deadlineMs });
  return state;
}

function openOf({ provider }: ContractCase, { id, uid }: SwitchedInstance): PowerSwitch | NoPowerSwitch {
  const host = machine('n1', {
    metadata: { uid },
    spec: { infra: { provider: provider.name, config: {} } },
    status: { infra: { providerID: id } },
  });
  return openInstanceSwitch(host, { [provider.name]: provider });
}

function switchOf(one: ContractCase, instance: SwitchedInstance): PowerSwitch {
  const found = openOf(one, instance);
  if ('because' in found) throw new Error(found.because);
  return found;
}
