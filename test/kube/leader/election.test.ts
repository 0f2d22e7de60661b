import { describe, expect, it, onTestFinished } from 'vitest';
import { KubeError } from '../../../src/kube/client/errors.ts';
import {
  createLeaseElection,
  type LeaseElection,
  LeaseLost,
  type LeaseOptions,
} from '../../../src/kube/leader/election.ts';
import {
  assessLease,
  formatMicroTime,
  LEASES,
  type LeaseAvailability,
  readLeaseRecord,
} from '../../../src/kube/leader/record.ts';
import type { HeldTerm } from '../../../src/kube/leader/renewal.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import { createRuntimeMetrics } from '../../../src/kube/process/metrics-runtime.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type ObjectServer, objectServer } from '../../support/object-server.ts';
import { settle, type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

const NAME = { namespace: 'system', name: 'controllers' };

interface World {
  readonly clock: VirtualClock;
  readonly server: ObjectServer;
  readonly contender: (identity: string, options?: Partial<LeaseOptions>) => LeaseElection;
}

function world(): World {
  const clock = virtualClock();
  const server = objectServer();
  return {
    clock,
    server,
    contender: (identity, options = {}) =>
      createLeaseElection({
        client: server,
        name: NAME,
        identity,
        clock,
        random: () => 0,
        log: memoryLog(),
        ...options,
      }),
  };
}

const never = new AbortController().signal;

async function acquired(election: LeaseElection, clock: VirtualClock, ms = 0): Promise<HeldTerm> {
  const campaign = election.campaign(never);
  await settle();
  await clock.advance(ms);
  const term = await campaign;
  onTestFinished(() => term.release());
  return term;
}

/** A client whose writes break off from some moment on. */
function breakable(server: ObjectServer): { client: LeaseOptions['client']; broken: KubeError | undefined } {
  const link: { client: LeaseOptions['client']; broken: KubeError | undefined } = {
    broken: undefined,
    client: {
      get: (...given) => (link.broken ? Promise.reject(link.broken) : server.get(...given)),
      create: (...given) => (link.broken ? Promise.reject(link.broken) : server.create(...given)),
      replace: (...given) => (link.broken ? Promise.reject(link.broken) : server.replace(...given)),
    },
  };
  return link;
}

/** A client whose writes take their time, there and back. */
function slowed(server: ObjectServer, wait: () => Promise<void> | undefined): LeaseOptions['client'] {
  const slow =
    (write: (...given: unknown[]) => Promise<unknown>) =>
    async (...given: unknown[]): Promise<unknown> => {
      const answer = await write(...given);
      await wait();
      return answer;
    };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the port lets callers name what they expect
  const client: unknown = {
    ...server,
    create: slow(server.create as never),
    replace: slow(server.replace as never),
  };
  return client as LeaseOptions['client'];
}

const UNREACHABLE = new KubeError('Unreachable', 'no route');

describe('assessLease', () => {
  const us = { identity: 'us', ours: 7, leaseMs: 15_000 };
  it.each<
    [
      name: string,
      record: Partial<ReturnType<typeof readLeaseRecord>>,
      nowMs: number,
      want: LeaseAvailability,
    ]
  >([
    [
      'is free when nobody ever held it',
      { holder: undefined, epoch: 0 },
      0,
      { free: true, because: 'never held' },
    ],
    ['is free when it was released', { holder: undefined, epoch: 3 }, 0, { free: true, because: 'released' }],
    ['is held until its time is over', {}, 15_999, { free: false, holder: 'them', leftMs: 1 }],
    ['has expired when its time is over', {}, 16_000, { free: true, because: 'expired' }],
    [
      'believes the holder how long',
      { durationMs: 60_000 },
      60_999,
      { free: false, holder: 'them', leftMs: 1 },
    ],
    [
      'takes our time when the holder did not say',
      { durationMs: undefined },
      15_999,
      { free: false, holder: 'them', leftMs: 1 },
    ],
    [
      'is ours when our last attempt came through',
      { holder: 'us', epoch: 7 },
      1000,
      { free: true, because: 'ours' },
    ],
    [
      'is another process with our name',
      { holder: 'us', epoch: 8 },
      1000,
      { free: false, holder: 'us', leftMs: 15_000 },
    ],
  ])('%s', (_, record, nowMs, want) => {
    const full = { holder: 'them', durationMs: 15_000, epoch: 3, ...record };
    expect(assessLease({ record: full, sinceMs: 1000 }, us, nowMs)).toEqual(want);
  });
});

describe('formatMicroTime', () => {
  it('has six digits', () => {
    expect(formatMicroTime(new Date('2030-01-01T12:00:00.120Z'))).toBe('2030-01-01T12:00:00.120000Z');
  });
});

describe('a campaign', () => {
  it('creates the Lease when there is none, as client-go writes it', async () => {
    const { clock, server, contender } = world();
    const term = await acquired(contender('a'), clock);
    expect(server.object(LEASES, NAME)).toMatchObject({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: NAME,
      spec: {
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
        acquireTime: '2030-01-01T12:00:00.000000Z',
        renewTime: '2030-01-01T12:00:00.000000Z',
        leaseTransitions: 1,
      },
    });
    expect(term.epoch).toBe(1);
    expect(term.held()).toBe(true);
  });

  it('waits while another holds it, and says so once', async () => {
    const { clock, contender } = world();
    await acquired(contender('a'), clock);
    const log = memoryLog();
    const second = contender('b', { log });
    let got = false;
    const stop = new AbortController();
    const campaign = second.campaign(stop.signal).then(() => (got = true));
    await clock.advance(300_000);
    expect(got).toBe(false);
    expect(second.holder()).toBe('a');
    expect(log.lines.map(({ message }) => message)).toEqual(['lease held by another']);
    stop.abort(new Error('enough'));
    await expect(campaign).rejects.toThrow('enough');
  });

  it('takes over a Lease that nobody renewed for its whole time since we first saw it', async () => {
    const { clock, server, contender } = world();
    await server.create(LEASES, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...NAME, labels: { team: 'x' } },
      // Years ago by the clock of the dead holder: clocks of others mean nothing.
      spec: {
        holderIdentity: 'dead',
        leaseDurationSeconds: 15,
        renewTime: '2020-01-01T00:00:00.000000Z',
        leaseTransitions: 4,
      },
    });
    const campaign = contender('b').campaign(never);
    await clock.advance(14_000);
    expect(server.object(LEASES, NAME)).toMatchObject({ spec: { holderIdentity: 'dead' } });
    await clock.advance(2000);
    const term = await campaign;
    expect(term.epoch).toBe(5);
    expect(server.object(LEASES, NAME)).toMatchObject({
      metadata: { labels: { team: 'x' } },
      spec: { holderIdentity: 'b' },
    });
    await term.release();
  });

  it('of two that see it free at the same moment gives it to one', async () => {
    const { clock, contender } = world();
    const terms: HeldTerm[] = [];
    const stop = new AbortController();
    const all = ['a', 'b', 'c'].map((name) =>
      contender(name)
        .campaign(stop.signal)
        .then(
          (term) => terms.push(term),
          () => undefined,
        ),
    );
    await clock.advance(60_000);
    expect(terms).toHaveLength(1);
    stop.abort();
    await Promise.all(all);
    await Promise.all(terms.map((term) => term.release()));
  });

  it('goes on through every error, and tells each new one once', async () => {
    const { clock, server, contender } = world();
    const log = memoryLog();
    const link = breakable(server);
    link.broken = UNREACHABLE;
    const campaign = contender('a', { client: link.client, log }).campaign(never);
    await clock.advance(20_000);
    link.broken = new KubeError('Forbidden', 'no', { status: 403 });
    await clock.advance(20_000);
    link.broken = undefined;
    await clock.advance(5000);
    await (await campaign).release();
    const told = log.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields['error']);
    expect(told).toMatchObject([{ code: 'Unreachable' }, { code: 'Forbidden' }]);
  });

  it('finds itself when the answer to its own write was lost', async () => {
    const { clock, server, contender } = world();
    let lost = false;
    const client = slowed(server, () => {
      if (lost) return undefined;
      lost = true;
      throw new KubeError('Timeout', 'no answer');
    });
    const campaign = contender('a', { client }).campaign(never);
    await clock.advance(3000);
    const term = await campaign;
    expect({ lost, epoch: term.epoch }).toEqual({ lost: true, epoch: 2 });
    await term.release();
  });

  it('begins above every epoch that is written anywhere, and not at all when that cannot be read', async () => {
    const { clock, contender } = world();
    let readable = false;
    const epochAbove = (): Promise<number> => (readable ? Promise.resolve(41) : Promise.reject(UNREACHABLE));
    const campaign = contender('a', { epochAbove }).campaign(never);
    await clock.advance(10_000);
    readable = true;
    await clock.advance(3000);
    const term = await campaign;
    expect(term.epoch).toBe(42);
    await term.release();
  });

  it('is one at a time', async () => {
    const { clock, contender } = world();
    const election = contender('a');
    const term = await acquired(election, clock);
    await expect(election.campaign(never)).rejects.toThrow('one campaign at a time');
    await term.release();
    await acquired(election, clock);
  });

  it.each([
    [15, 15, 2],
    [15, 4, 2],
    [15, 10, 0],
    [1.5, 1, 0.2],
  ])('refuses %s/%s/%s seconds', (leaseSeconds, renewDeadlineSeconds, retrySeconds) => {
    expect(() => world().contender('a', { leaseSeconds, renewDeadlineSeconds, retrySeconds })).toThrow(
      RangeError,
    );
  });
});

describe('a term', () => {
  it('is renewed every two seconds and keeps its epoch', async () => {
    const { clock, server, contender } = world();
    const term = await acquired(contender('a'), clock);
    const before = server.version;
    await clock.advance(600_000);
    expect(server.version - before).toBe(300);
    expect(term.held()).toBe(true);
    expect(readLeaseRecord(server.object(LEASES, NAME) ?? fail()).epoch).toBe(1);
  });

  it('stops acting ten seconds after the last renewal was sent, and says so', async () => {
    const { clock, server, contender } = world();
    const metrics = createMetrics();
    const link = breakable(server);
    const term = await acquired(
      contender('a', { client: link.client, metrics: createRuntimeMetrics(metrics).lease }),
      clock,
    );
    await clock.advance(4000);
    link.broken = UNREACHABLE;
    await clock.advance(9999);
    expect(term.held()).toBe(true);
    expect(term.leftMs()).toBe(1);
    await clock.advance(1);
    expect(term.held()).toBe(false);
    expect(() => term.fence()).toThrow(LeaseLost);
    await clock.advance(1);
    expect(term.lost.reason).toMatchObject({ code: 'LeaseLost', because: 'expired' });
    expect(await metrics.text()).toContain('kubenode_lease_held{lease="system/controllers"} 0');
    expect(await metrics.text()).toContain('because="expired"} 1');
  });

  it('knows right after a standstill, before any timer runs', async () => {
    const { clock, server, contender } = world();
    const link = breakable(server);
    const term = await acquired(contender('a', { client: link.client }), clock);
    link.broken = UNREACHABLE;
    const stalled = clock.stall(60_000);
    expect(clock.monotonicMs()).toBe(60_000);
    expect(term.held()).toBe(false);
    expect(() => term.fence()).toThrow(LeaseLost);
    await stalled;
    await clock.advance(1);
    expect(term.lost.aborted).toBe(true);
  });

  it('goes on after a standstill when a renewal proves that nobody took it meanwhile', async () => {
    const { clock, contender } = world();
    const term = await acquired(contender('a'), clock);
    await clock.stall(60_000);
    expect({ held: term.held(), lost: term.lost.aborted }).toEqual({ held: true, lost: false });
  });

  it('knows after the machine slept, when its monotonic clock stood still', async () => {
    const { clock, contender } = world();
    const term = await acquired(contender('a'), clock);
    clock.jumpWall(10_000);
    expect(term.held()).toBe(false);
  });

  it('counts from the sending of a renewal, not from its answer', async () => {
    const { clock, server, contender } = world();
    let waitMs = 3000;
    const client = slowed(server, () => clock.sleep(waitMs));
    const term = await acquired(contender('a', { client }), clock, 3000);
    expect(term.leftMs()).toBe(7000);
    // Due at two seconds, so sent with the answer at three; answered at six.
    await clock.advance(3000);
    expect(term.leftMs()).toBe(7000);
    waitMs = 0;
    await clock.advance(3000);
  });

  it('is over in time also when the wall clock is set back', async () => {
    const { clock, server, contender } = world();
    const link = breakable(server);
    const term = await acquired(contender('a', { client: link.client }), clock);
    link.broken = UNREACHABLE;
    clock.jumpWall(-3_600_000);
    await clock.advance(10_000);
    expect(term.held()).toBe(false);
  });

  it('does not care for a wall clock that is set back', async () => {
    const { clock, contender } = world();
    const term = await acquired(contender('a'), clock);
    clock.jumpWall(-3_600_000);
    await clock.advance(60_000);
    expect(term.held()).toBe(true);
  });

  it('survives a busy event loop of nine seconds', async () => {
    const { clock, contender } = world();
    const term = await acquired(contender('a'), clock);
    for (let n = 0; n < 5; n += 1) {
      await clock.stall(9000);
      expect(term.held()).toBe(true);
    }
    expect(term.lost.aborted).toBe(false);
  });

  it('does not come back with a renewal whose answer came too late', async () => {
    const { clock, server, contender } = world();
    const answer = Promise.withResolvers<void>();
    let hold = false;
    const client = slowed(server, () => (hold ? answer.promise : undefined));
    const term = await acquired(contender('a', { client }), clock);
    hold = true;
    await clock.advance(10_002);
    expect(term.lost.aborted).toBe(true);
    answer.resolve();
    await clock.advance(1);
    expect(term.held()).toBe(false);
  });

  it('reads an answer that is already there before it gives up', async () => {
    const { clock, server, contender } = world();
    const answer = Promise.withResolvers<void>();
    let hold = false;
    const client = slowed(server, () => (hold ? answer.promise : undefined));
    const term = await acquired(contender('a', { client }), clock);
    hold = true;
    // Sent at two seconds, so good until twelve; the deadline that we know of is at ten.
    await clock.advance(10_000);
    expect(term.held()).toBe(false);
    expect(term.lost.aborted).toBe(false);
    answer.resolve();
    await clock.advance(1);
    expect(term.held()).toBe(true);
  });

  it('is given back also when a renewal is under way', async () => {
    const { clock, server, contender } = world();
    const answer = Promise.withResolvers<void>();
    let hold = false;
    const client = slowed(server, () => (hold ? answer.promise : undefined));
    const term = await acquired(contender('a', { client }), clock);
    hold = true;
    await clock.advance(2000);
    const released = term.release();
    expect(term.held()).toBe(false);
    await settle();
    answer.resolve();
    await released;
    expect(server.object(LEASES, NAME)).not.toHaveProperty(['spec', 'holderIdentity']);
  });

  it('ends at once when another took it', async () => {
    const { clock, server, contender } = world();
    const log = memoryLog();
    const term = await acquired(contender('a', { log }), clock);
    const object = await server.get(LEASES, NAME);
    await server.replace(LEASES, {
      ...object,
      spec: { holderIdentity: 'b', leaseDurationSeconds: 15, leaseTransitions: 2 },
    });
    await clock.advance(2000);
    expect(term.lost.reason).toMatchObject({ because: 'taken' });
    await term.release();
    expect(server.object(LEASES, NAME)).toMatchObject({ spec: { holderIdentity: 'b' } });
    expect(log.lines.map(({ message }) => message)).toEqual(['lease acquired', 'lease lost']);
  });

  it('ends at once when another process of our name took it', async () => {
    const { clock, server, contender } = world();
    const term = await acquired(contender('a'), clock);
    const object = await server.get(LEASES, NAME);
    await server.replace(LEASES, {
      ...object,
      spec: { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 2 },
    });
    await clock.advance(2000);
    expect(term.lost.reason).toMatchObject({ because: 'taken' });
  });

  it('ends when the Lease is deleted, and who waited lets its time pass and goes on counting', async () => {
    const { clock, server, contender } = world();
    const term = await acquired(contender('a'), clock);
    const campaign = contender('b').campaign(never);
    await clock.advance(3000);
    server.remove(LEASES, NAME);
    await clock.advance(2000);
    expect(term.lost.reason).toMatchObject({ because: 'deleted' });
    await clock.advance(9000);
    expect(server.object(LEASES, NAME)).toBeUndefined();
    await clock.advance(6000);
    const next = await campaign;
    expect(next.epoch).toBe(2);
    await next.release();
  });

  it('outlives labels that others set on the Lease', async () => {
    const { clock, server, contender } = world();
    const term = await acquired(contender('a'), clock);
    for (let n = 0; n < 10; n += 1) {
      const object = await server.get(LEASES, NAME);
      await server.replace(LEASES, { ...object, metadata: { ...object.metadata, labels: { n: String(n) } } });
      await clock.advance(1500);
    }
    expect(term.held()).toBe(true);
    expect(server.object(LEASES, NAME)).toMatchObject({ metadata: { labels: { n: '9' } } });
  });

  it('given back lets the next one in at once, with a later epoch', async () => {
    const { clock, server, contender } = world();
    const term = await acquired(contender('a'), clock);
    const campaign = contender('b').campaign(never);
    await clock.advance(5000);
    await term.release();
    expect(term.lost.reason).toMatchObject({ because: 'released' });
    expect(server.object(LEASES, NAME)).not.toHaveProperty(['spec', 'holderIdentity']);
    await clock.advance(2000);
    const next = await campaign;
    expect(next.epoch).toBe(2);
    await next.release();
  });

  it('is one of many in a process, and does not care for the others', async () => {
    const { clock, server, contender } = world();
    const link = breakable(server);
    const terms: HeldTerm[] = [];
    for (let n = 0; n < 100; n += 1) {
      const name = { ...NAME, name: `cluster-${n}` };
      terms.push(await acquired(contender('a', { name, client: n === 42 ? link.client : server }), clock));
    }
    link.broken = UNREACHABLE;
    await clock.advance(60_000);
    expect(terms.flatMap((term, n) => (term.held() ? [] : n))).toEqual([42]);
    link.broken = undefined;
  });

  it('leaves nothing running when it is over', async () => {
    const { clock, contender } = world();
    const term = await acquired(contender('a'), clock);
    await clock.advance(3000);
    await term.release();
    await term.release();
    expect(clock.sleepers).toBe(0);
  });

  it('is given back without fuss when the server is gone', async () => {
    const { clock, server, contender } = world();
    const log = memoryLog();
    const link = breakable(server);
    const term = await acquired(contender('a', { client: link.client, log }), clock);
    link.broken = UNREACHABLE;
    await term.release();
    expect(log.lines.map(({ message }) => message)).toContain('lease not given back');
  });
});

function fail(): never {
  throw new Error('the lease is not there');
}
