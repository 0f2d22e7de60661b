/** S22: when the next plan is written. The commenter.test.ts of this folder writes over real HTTP. */
import { describe, expect, it } from 'vitest';
import type { PipelinePlanComments } from '../../../src/api/generated/types.ts';
import { createNextPlan } from '../../../src/sync/pulls/next-plan.ts';
import type { PlanDestination } from '../../../src/sync/pulls/target.ts';
import type { HostAnswer, HostRequest } from '../../../src/sync/report/send.ts';
import { testHostTokens } from '../../support/git-host/host-tokens.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { reportingPipeline } from '../report/builders.ts';

const TARGET: PlanDestination = {
  project: { type: 'GitHub', base: 'https://git.example.com', path: 'acme/fleet', context: 'c/plan' },
  credential: { type: 'Token', token: 'token' },
  address: 'a',
  branch: 'main',
  forks: false,
};
const pull = (number: number) => ({
  number,
  head: { sha: `${number}`.repeat(40), ref: 'topic', repo: { id: 1 } },
  base: { ref: 'main', repo: { id: 1 } },
});
const PULLS = /\/pulls\?/;

/** A git host that lists pull requests, and answers to each write with this status. */
function hostWith(pulls: readonly object[], writeStatus: number) {
  const host = { pulls, writeStatus, planFails: (_number: number) => false };
  const clock = virtualClock();
  const planned: number[] = [];
  let record: PipelinePlanComments | undefined;
  const send = ({ method, url }: HostRequest): Promise<HostAnswer> => {
    const listed = JSON.stringify(PULLS.test(url) ? host.pulls : []);
    const answer =
      method === 'GET' ? { status: 200, body: listed } : { status: host.writeStatus, body: '{"id":7}' };
    return Promise.resolve({ ...answer, headers: {} });
  };
  const pipeline = () => reportingPipeline({}, record ? { planComments: record } : {});
  const next = createNextPlan(
    {
      pipeline,
      lease: { notHeldReason: () => undefined },
      newestAccepted: () => 'b'.repeat(40),
      record: (comments) => Promise.resolve(void (record = comments)),
      planPull: ({ number }) => {
        planned.push(number);
        if (host.planFails(number)) throw new Error('the repository does not answer');
        return Promise.resolve({ outcome: 'Refused', message: 'it throws' });
      },
      send,
      tokens: testHostTokens(),
      clock,
      random: () => 1,
      log: memoryLog(),
    },
    new AbortController().signal,
  );
  /** Returns how long each round waits for the next one. */
  const rounds = async (count: number): Promise<readonly number[]> => {
    const waits: number[] = [];
    for (let round = 0; round < count; round += 1) {
      const waitMs = await next.write(pipeline(), TARGET);
      waits.push(waitMs);
      await clock.advance(waitMs);
    }
    return waits;
  };
  return { host, next, planned, rounds };
}

describe('S22 a git host that lists pull requests, and takes no comment', () => {
  it('is left alone longer and longer, and reported, although it answers the list', async () => {
    const { next, planned, rounds } = hostWith([pull(1)], 503);
    expect(await rounds(9)).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300].map((seconds) => seconds * 1000));
    expect(next.report().problem).toMatchObject({ status: 'Unknown', reason: 'Unreachable' });
    expect(planned).toEqual([1]);
  });

  it('gets few plans while a token may not write, however many pull requests are open', async () => {
    const { next, rounds } = hostWith([1, 2, 3, 4, 5].map(pull), 403);
    const waits = await rounds(12);
    expect(waits.slice(-4)).toEqual([300_000, 300_000, 300_000, 300_000]);
    expect(next.report().problem).toMatchObject({ status: 'False', reason: 'Forbidden' });
  });

  it('is no problem any more once what it refused is closed', async () => {
    const { host, next, rounds } = hostWith([pull(1)], 503);
    await rounds(6);
    expect(next.report().problem?.reason).toBe('Unreachable');
    host.pulls = [];
    await rounds(1);
    expect(next.report()).toEqual({});
  });
});

describe('S22 a pull request that cannot be planned', () => {
  it('delays the others by seconds, however often it fails', async () => {
    const { host, planned, rounds } = hostWith([pull(1)], 201);
    host.planFails = (number) => number === 1;
    await rounds(20);
    const before = planned.length;
    host.pulls = [pull(1), pull(2)];
    const waits = await rounds(4);
    expect(planned.slice(before)).toContain(2);
    expect(Math.max(...waits)).toBeLessThanOrEqual(15_000);
  });
});
