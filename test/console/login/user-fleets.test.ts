import { describe, expect, it } from 'vitest';
import type { FleetSource } from '../../../src/console/feeds/source.ts';
import type { SessionCredentials } from '../../../src/console/login/sessions.ts';
import {
  createUserFleets,
  type PersonAccess,
  type UserFleets,
} from '../../../src/console/login/user-fleets.ts';
import { NO_STATE } from '../../../src/console/state/state.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

interface Bed {
  readonly fleets: UserFleets;
  readonly clock: ReturnType<typeof virtualClock>;
  readonly log: string[];
  readonly people: readonly PersonAccess[];
  /** Lets the fleets of tests that hold them open. */
  readonly release: () => void;
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
}

function bed({
  maxFleets = 2,
  isHeld = false,
  error,
}: {
  maxFleets?: number;
  isHeld?: boolean;
  error?: Error;
} = {}): Bed {
  const clock = virtualClock();
  const log: string[] = [];
  const people: PersonAccess[] = [];
  const held = Promise.withResolvers<void>();
  if (!isHeld) held.resolve();
  const source: FleetSource = {
    isHub: false,
    readEvents: () => Promise.resolve({ events: [] }),
    current: () => NO_STATE,
    subscribe: () => undefined,
    run: async (signal) => {
      await untilAborted(signal);
      log.push('watches ended');
    },
  };
  const fleets = createUserFleets({
    clock,
    maxFleets,
    async connectUser(bearer) {
      log.push(`connect ${await bearer()}`);
      return { close: () => Promise.resolve(void log.push('closed')) } as unknown as Client;
    },
    async openFleet(_client, _signal, person) {
      people.push(person);
      await held.promise;
      if (error) throw error;
      return source;
    },
    onEnd: (key, loss, cluster) =>
      void log.push(['end', key, loss, cluster].filter((part) => part !== undefined).join(' ')),
  });
  return { fleets, clock, log, people, release: () => held.resolve() };
}

const of = (key: string): SessionCredentials => ({ key, bearer: () => Promise.resolve(key) });

describe('createUserFleets', () => {
  it('CON-22 opens one fleet for two pages that open at once with the same credentials, and another for others', async () => {
    const { fleets, log } = bed();
    const [one, same, other] = await Promise.all([
      fleets.open(of('a'), 'a'),
      fleets.open(of('a'), 'a'),
      fleets.open(of('b'), 'b'),
    ]);
    expect(one).toBe(same);
    expect(one).not.toBe(other);
    expect(log).toEqual(['connect a', 'connect b']);
    await fleets.close();
    expect(log.filter((line) => line === 'closed')).toHaveLength(2);
  });

  it('CON-33 names the other cluster that ended a fleet, and the credentials to it', async () => {
    const { fleets, log, people } = bed();
    await fleets.open(of('a'), 'anna');
    expect(people).toMatchObject([{ name: 'anna', credentialsKey: 'a' }]);
    people[0]?.onLoss('Forbidden', 'prod');
    people[0]?.onLoss('Unauthorized', 'test');
    expect(log).toEqual(['connect a', 'end a Forbidden prod']);
    await fleets.close();
  });

  it('CON-25 ends a fleet that no page shows for two minutes', async () => {
    const { fleets, clock, log } = bed();
    await fleets.open(of('a'), 'a');
    await clock.advance(119_000);
    fleets.sweep();
    expect(fleets.has('a')).toBe(true);
    await clock.advance(1000);
    fleets.sweep();
    expect([fleets.has('a'), fleets.size]).toEqual([false, 0]);
    await fleets.close();
    expect(log).toEqual(['connect a', 'end a', 'watches ended', 'closed']);
  });

  it('CON-25 gives the place of a fleet without a page to another, and refuses one too many', async () => {
    const { fleets, log } = bed({ maxFleets: 1 });
    await fleets.open(of('a'), 'a');
    await fleets.open(of('b'), 'b');
    expect([fleets.has('a'), fleets.has('b')]).toEqual([false, true]);
    await fleets.close();
    expect(log.filter((line) => line === 'closed')).toHaveLength(2);
    const busy = bed({ maxFleets: 1, isHeld: true });
    const opening = busy.fleets.open(of('a'), 'a');
    expect(await busy.fleets.open(of('b'), 'b')).toBe('TooMany');
    busy.release();
    await opening;
    await busy.fleets.close();
  });

  it('CON-25 reads three fleets of a person at most, of which one without a page gives way', async () => {
    const { fleets } = bed({ maxFleets: 9 });
    for (const key of ['1', '2', '3', '4']) await fleets.open(of(key), 'anna');
    expect(['1', '2', '3', '4'].map((key) => fleets.has(key))).toEqual([false, true, true, true]);
    await fleets.open(of('5'), 'ben');
    expect(fleets.size).toBe(4);
    await fleets.close();
    const busy = bed({ maxFleets: 9, isHeld: true });
    const opening = ['1', '2', '3'].map(async (key) => await busy.fleets.open(of(key), 'anna'));
    expect(await busy.fleets.open(of('4'), 'anna')).toBe('TooManyOfPerson');
    const other = busy.fleets.open(of('5'), 'ben');
    busy.release();
    expect(typeof (await other)).toBe('object');
    await Promise.all(opening);
    await busy.fleets.close();
  });

  it('gives no streams of a fleet that ended while it was opened', async () => {
    const { fleets, release, log } = bed({ isHeld: true });
    const opening = fleets.open(of('a'), 'a');
    fleets.end('a');
    fleets.end('a');
    release();
    expect(await opening).toBe('Ended');
    await fleets.close();
    expect(log.toSorted()).toEqual(['closed', 'connect a', 'end a', 'watches ended']);
  });

  it('forgets a fleet that cannot be opened, with the reason, and opens it again later', async () => {
    const { fleets, log } = bed({ error: new Error('not installed') });
    await expect(fleets.open(of('a'), 'a')).rejects.toThrow('not installed');
    expect(fleets.size).toBe(0);
    await expect(fleets.open(of('a'), 'a')).rejects.toThrow('not installed');
    expect(log).toEqual(['connect a', 'closed', 'end a', 'connect a', 'closed', 'end a']);
  });
});
