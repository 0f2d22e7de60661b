import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import type { HeldTerm } from '../../../src/kube/leader/renewal.ts';
import {
  acquire,
  createBreakableClient,
  createLeaseBed,
  createSlowClient,
  LEASE_NAME,
  never,
  UNREACHABLE,
} from '../../support/kube/lease-bed.ts';
import { memoryLog } from '../../support/memory-log.ts';

describe('a campaign', () => {
  it('creates a missing Lease as client-go does', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const term = await acquire(candidate('a'), clock);
    expect(server.object(LEASES, LEASE_NAME)).toMatchObject({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: LEASE_NAME,
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

  it('waits while another process holds it, and logs that once', async () => {
    const { clock, candidate } = createLeaseBed();
    await acquire(candidate('a'), clock);
    const log = memoryLog();
    const second = candidate('b', { log });
    let acquired = false;
    const stop = new AbortController();
    const campaign = second.campaign(stop.signal).then(() => (acquired = true));
    await clock.advance(300_000);
    expect(acquired).toBe(false);
    expect(second.holder()).toBe('a');
    expect(log.lines.map(({ message }) => message)).toEqual(['lease held by another process']);
    stop.abort(new Error('enough'));
    await expect(campaign).rejects.toThrow('enough');
  });

  it('takes over a Lease that was not renewed for its duration since it was first observed', async () => {
    const { clock, server, candidate } = createLeaseBed();
    await server.create(LEASES, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...LEASE_NAME, labels: { team: 'x' } },
      // Years ago by the clock of the dead holder, which must not matter.
      spec: {
        holderIdentity: 'dead',
        leaseDurationSeconds: 15,
        renewTime: '2020-01-01T00:00:00.000000Z',
        leaseTransitions: 4,
      },
    });
    const campaign = candidate('b').campaign(never);
    await clock.advance(14_000);
    expect(server.object(LEASES, LEASE_NAME)).toMatchObject({ spec: { holderIdentity: 'dead' } });
    await clock.advance(2000);
    const term = await campaign;
    expect(term.epoch).toBe(5);
    expect(server.object(LEASES, LEASE_NAME)).toMatchObject({
      metadata: { labels: { team: 'x' } },
      spec: { holderIdentity: 'b' },
    });
    await term.release();
  });

  it('has one winner when several candidates see it free at the same moment', async () => {
    const { clock, candidate } = createLeaseBed();
    const terms: HeldTerm[] = [];
    const stop = new AbortController();
    const all = ['a', 'b', 'c'].map((name) =>
      candidate(name)
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

  it('continues after every error, and logs each new one once', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const log = memoryLog();
    const link = createBreakableClient(server);
    link.broken = UNREACHABLE;
    const campaign = candidate('a', { client: link.client, log }).campaign(never);
    await clock.advance(20_000);
    link.broken = new KubeError('Forbidden', 'no', { status: 403 });
    await clock.advance(20_000);
    link.broken = undefined;
    await clock.advance(5000);
    await (await campaign).release();
    const logged = log.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields['error']);
    expect(logged).toMatchObject([{ code: 'Unreachable' }, { code: 'Forbidden' }]);
  });

  it('recognizes its own write when the answer was lost', async () => {
    const { clock, server, candidate } = createLeaseBed();
    let lost = false;
    const client = createSlowClient(server, () => {
      if (lost) return undefined;
      lost = true;
      throw new KubeError('Timeout', 'no answer');
    });
    const campaign = candidate('a', { client }).campaign(never);
    await clock.advance(3000);
    const term = await campaign;
    expect({ lost, epoch: term.epoch }).toEqual({ lost: true, epoch: 2 });
    await term.release();
  });

  it('starts above every recorded epoch, and waits while that cannot be read', async () => {
    const { clock, candidate } = createLeaseBed();
    let readable = false;
    const epochAbove = (): Promise<number> => (readable ? Promise.resolve(41) : Promise.reject(UNREACHABLE));
    const campaign = candidate('a', { epochAbove }).campaign(never);
    await clock.advance(10_000);
    readable = true;
    await clock.advance(3000);
    const term = await campaign;
    expect(term.epoch).toBe(42);
    await term.release();
  });

  it('is rejected during another campaign or a term', async () => {
    const { clock, candidate } = createLeaseBed();
    const election = candidate('a');
    const term = await acquire(election, clock);
    await expect(election.campaign(never)).rejects.toThrow('already in progress');
    await term.release();
    await acquire(election, clock);
  });
});
