import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../../src/os/clock.ts';
import { waitForOperation } from '../../../../src/providers/azure/api/operation.ts';
import { createFastClock } from '../../../support/fast-clock.ts';
import type { CloudAnswer } from '../../cloud/cloud-proxy.ts';
import { NEVER } from '../../contract/harness.ts';
import { jsonAnswer } from '../server/refusal.ts';
import { openArmApi } from './arm-api.ts';

const RUNNING = jsonAnswer(200, { status: 'InProgress' });
const SUCCEEDED = jsonAnswer(200, { status: 'Succeeded' });
const EMPTY = { headers: {}, body: '' };

interface Polled {
  readonly succeeded: boolean;
  readonly polls: number;
  /** The waits in seconds. */
  readonly waits: readonly number[];
}

/** Follows an operation whose polls get these answers, the last one again and again. */
async function follow(
  answers: readonly [CloudAnswer, ...CloudAnswer[]],
  {
    header = 'azure-asyncoperation',
    status = 201,
    retryAfter,
  }: { header?: string; status?: number; retryAfter?: string } = {},
): Promise<Polled> {
  const waits: number[] = [];
  const fast = createFastClock();
  const clock: Clock = {
    ...fast,
    sleep(ms, signal) {
      waits.push(ms / 1000);
      return fast.sleep(ms, signal);
    },
  };
  let polls = 0;
  const { api, server } = await openArmApi(() => {
    polls += 1;
    return answers[Math.min(polls, answers.length) - 1] ?? answers[0];
  }, fast);
  const headers = new Headers(retryAfter === undefined ? {} : { 'retry-after': retryAfter });
  if (header !== '') headers.set(header, `${server.url}/operations/1`);
  const limits = { api, clock, deadlineMs: 60_000 };
  const succeeded = await waitForOperation({ status, headers, json: {} }, limits, NEVER);
  return { succeeded, polls, waits };
}

describe('waitForOperation', () => {
  it('is done at once when there is no operation', async () => {
    expect(await follow([SUCCEEDED], { header: '' })).toEqual({ succeeded: true, polls: 0, waits: [] });
    expect(await follow([SUCCEEDED], { header: 'location', status: 201 })).toMatchObject({ polls: 0 });
  });

  it('polls until the operation succeeded', async () => {
    expect(await follow([RUNNING, RUNNING, SUCCEEDED])).toEqual({
      succeeded: true,
      polls: 3,
      waits: [5, 5, 5],
    });
  });

  it('waits as long as each answer asks, within limits', async () => {
    const [long, zero] = ['3600', '0'].map((seconds) =>
      jsonAnswer(200, { status: 'InProgress' }, { 'retry-after': seconds }),
    );
    if (!long || !zero) throw new Error('two answers');
    expect((await follow([zero, long, SUCCEEDED], { retryAfter: '7' })).waits).toEqual([7, 1, 30]);
  });

  it('is not done at the deadline', async () => {
    expect(await follow([RUNNING], { retryAfter: '30' })).toMatchObject({ succeeded: false });
    expect((await follow([jsonAnswer(200, { status: 'Updating' })])).succeeded).toBe(false);
  });

  it('follows an operation that has only a location', async () => {
    const options = { header: 'location', status: 202 };
    expect(
      await follow(
        [
          { ...EMPTY, status: 202 },
          { ...EMPTY, status: 200 },
        ],
        options,
      ),
    ).toMatchObject({
      succeeded: true,
      polls: 2,
    });
    expect(await follow([{ ...EMPTY, status: 204 }], options)).toMatchObject({ succeeded: true, polls: 1 });
  });

  it.each([429, 500, 503])('goes on when a poll is answered with %i', async (status) => {
    const refused = jsonAnswer(status, { error: { code: 'X', message: '' } }, { 'retry-after': '1' });
    expect(await follow([refused, SUCCEEDED])).toMatchObject({ succeeded: true, polls: 2 });
  });

  it('ends when its rights were taken away', async () => {
    const refused = jsonAnswer(403, { error: { code: 'AuthorizationFailed', message: '' } });
    await expect(follow([refused])).rejects.toMatchObject({ code: 'Auth' });
  });

  it.each([
    [
      { status: 'Failed', error: { code: 'AllocationFailed', message: 'no capacity' } },
      'Quota',
      'AllocationFailed',
    ],
    [{ status: 'Failed' }, 'Terminal', 'OperationFailed'],
    [{ status: 'Canceled' }, 'Terminal', 'OperationCanceled'],
  ])('fails with the operation: %j', async (body, code, reason) => {
    await expect(follow([jsonAnswer(200, body)])).rejects.toMatchObject({
      name: 'FailedArmOperation',
      error: { code, reason },
    });
  });
});
