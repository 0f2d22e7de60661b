import { describe, expect, it } from 'vitest';
import { whenAborted } from '../../../src/os/deadline.ts';
import type { ContentVerdict } from '../../../src/sync/content-verdict.ts';
import { GitError } from '../../../src/sync/git/errors.ts';
import type { Ancestry, GitTransport } from '../../../src/sync/git/transport.ts';
import { type CommitPlanQuestion, type HeadPlanPorts, planHead } from '../../../src/sync/pulls/head-plan.ts';
import { RenderError } from '../../../src/sync/render/errors.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const QUESTION = { number: 7, head: 'h1', base: 'b1', type: 'GitHub' } as const;
const NEVER = new AbortController().signal;

interface Given {
  readonly fetched?: string | Error;
  readonly verdict?: ContentVerdict | Error;
  readonly ancestry?: Ancestry;
  readonly planCommit?: HeadPlanPorts['planCommit'];
}

function settle<T>(value: T | Error): T {
  if (value instanceof Error) throw value;
  return value;
}

const hanging: HeadPlanPorts['planCommit'] = ({ signal }) =>
  new Promise((_, reject) => {
    whenAborted(signal, reject);
  });

function portsFor({ fetched = 'h1', verdict, ancestry = 'descends', planCommit }: Given) {
  const asked: (string | CommitPlanQuestion)[] = [];
  const git = {
    display: 'https://git.example.com/fleet',
    fetch: async (ref: string) => (asked.push(ref), settle(fetched)),
    ancestry: async () => ancestry,
  } as unknown as GitTransport;
  const clock = virtualClock();
  const ports: HeadPlanPorts = {
    git,
    renders: {
      get: async (commit) => ({ commit, targets: [] }),
      judge: async () => settle(verdict ?? { accepted: true, because: 'it renders' }),
    },
    pipeline: 'fleet',
    path: 'fleet',
    clock,
    planCommit:
      planCommit ??
      (async (question) => {
        asked.push(question);
        const preview = { from: '', to: '', targets: [], refusals: [], digest: 'd' };
        return { preview, notes: ['a note'] };
      }),
  };
  return { ports, asked, clock };
}

const planOf = (given: Given) => planHead(portsFor(given).ports, QUESTION, NEVER);

describe('S22 plans the head of a pull request', () => {
  it('as the host serves it, from the accepted commit', async () => {
    const { ports, asked } = portsFor({});
    expect(await planHead(ports, QUESTION, NEVER)).toMatchObject({
      outcome: 'Planned',
      isBehind: false,
      notes: ['a note'],
    });
    expect(asked).toMatchObject([
      'refs/pull/7/head',
      { pipeline: 'fleet', path: 'fleet', from: { commit: 'b1' }, to: { commit: 'h1' } },
    ]);
  });

  it.each<[ancestry: Ancestry, isBehind: boolean]>([
    ['same', false],
    ['descends', false],
    ['older', true],
    ['diverged', true],
  ])('tells whether a head that is %s lacks what was merged', async (ancestry, isBehind) => {
    expect(await planOf({ ancestry })).toMatchObject({ isBehind });
  });

  it.each<[name: string, given: Given, message: string]>([
    [
      'does not render',
      { verdict: new RenderError('Failed', [{ message: 'throws' }], 'fix it') },
      'throws; fix it',
    ],
    ['has objects that are refused', { verdict: { accepted: false, message: 'no kind' } }, 'no kind'],
    ['is too large to fetch', { fetched: new GitError('TooLarge', '6 GiB') }, '6 GiB'],
  ])('refuses a head that %s, and plans nothing', async (_, given, message) => {
    const { ports, asked } = portsFor(given);
    expect(await planHead(ports, QUESTION, NEVER)).toEqual({ outcome: 'Refused', message });
    expect(asked).toEqual(['refs/pull/7/head']);
  });

  it.each<[name: string, given: Given, message: string]>([
    ['git does not answer', { fetched: new GitError('Unreachable', 'no route') }, 'no route'],
    ['a worker was killed', { verdict: new Error('the render worker gave no result') }, 'gave no result'],
    [
      'the host serves another head',
      { fetched: 'h0' },
      'refs/pull/7/head is at h0, and the git host listed h1',
    ],
    ['the hub cannot be read', { planCommit: async () => Promise.reject(new Error('no hub')) }, 'no hub'],
  ])('has no plan while %s', async (_, given, message) => {
    await expect(planOf(given)).rejects.toThrow(message);
  });

  it('gives up on clusters that hang', async () => {
    const { ports, clock } = portsFor({ planCommit: hanging });
    const failed = planHead(ports, QUESTION, NEVER).catch((error: unknown) => error);
    await clock.advance(600_000);
    expect(await failed).toMatchObject({ message: 'the plan takes longer than 10 min' });
  });
});
