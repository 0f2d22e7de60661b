import { describe, expect, it } from 'vitest';
import type { LeaseElection } from '../../../src/kube/leader/election.ts';
import type { HeldTerm } from '../../../src/kube/leader/renewal.ts';
import { createTerm } from '../../../src/kube/leader/term.ts';
import { createFencedElection } from '../../../src/kube/leader/term-fence.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const clock = virtualClock();

function termOf(epoch: number): HeldTerm {
  const sentAt = { monotonicMs: clock.monotonicMs(), wallMs: clock.now().getTime() };
  const term = createTerm({ lease: 'hosting', epoch, clock, validMs: 10_000, sentAt });
  return { ...term, release: async () => term.end('released') };
}

function electionOf(...terms: readonly HeldTerm[]): LeaseElection {
  const left = [...terms];
  return { campaign: async () => left.shift() ?? termOf(9), holder: () => 'other' };
}

describe('the fence of an election', () => {
  it('permits no write before the first term begins', async () => {
    const { election, fence } = createFencedElection(electionOf(termOf(1)));
    expect(fence).toThrow('no lease is held yet');
    await election.campaign(new AbortController().signal);
    expect(fence).not.toThrow();
  });

  it('permits no write after the term was lost, until the next one begins', async () => {
    const first = termOf(1);
    const { election, fence } = createFencedElection(electionOf(first, termOf(2)));
    const { signal } = new AbortController();
    expect(await election.campaign(signal)).toBe(first);
    first.end('taken');
    expect(fence).toThrow('another process holds it');
    await election.campaign(signal);
    expect([fence(), election.holder()]).toEqual([undefined, 'other']);
  });
});
