import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import { createMemberRefusals, type JudgedClient } from '../../../../src/console/login/members/refusals.ts';
import type { LossOfRights } from '../../../../src/console/login/user-client.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { KubeError, type KubeErrorCode } from '../../../../src/kube/client/errors.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

function bed() {
  const clock = virtualClock();
  const losses: LossOfRights[] = [];
  const stop = new AbortController();
  /** What a list answers, and then whether the token is refused. */
  const state: { code: KubeErrorCode | undefined; isRefused: boolean | undefined; asked: number } = {
    code: undefined,
    isRefused: true,
    asked: 0,
  };
  const list = (): Promise<unknown> =>
    state.code
      ? Promise.reject(new KubeError(state.code, `${state.code} for token-1`))
      : Promise.resolve({ items: [] });
  const refusals = createMemberRefusals({
    clock,
    conceal: (error) => {
      const { code, message } = error as KubeError;
      return new KubeError(code, message.replace('token-1', '[token]'));
    },
    isRefused: () => {
      state.asked += 1;
      return state.isRefused === undefined
        ? Promise.reject(new KubeError('Unreachable', 'down'))
        : Promise.resolve(state.isRefused);
    },
    onLoss: (loss) => void losses.push(loss),
    signal: stop.signal,
  });
  const judge = (): JudgedClient =>
    refusals.judge('prod', { server: 'https://prod', list } as unknown as Client);
  return { clock, losses, stop, state, judge };
}

const read = async ({ client }: JudgedClient): Promise<string> =>
  await client.list(MACHINES).then(
    () => 'read',
    (error: unknown) => (error as Error).message,
  );

describe('createMemberRefusals', () => {
  it('CON-33 hides a cluster that refuses the token at once, and ends the pages when it does so ten seconds later', async () => {
    const { clock, losses, state, judge } = bed();
    const [one, same] = [judge(), judge()];
    expect(await read(one)).toBe('read');
    state.code = 'Unauthorized';
    expect(await read(one)).toBe('Unauthorized for [token]');
    await read(same);
    expect([one.refused.aborted, same.refused.aborted, losses]).toEqual([true, true, []]);
    expect((one.refused.reason as Error).message).toContain('https://prod does not accept your token');
    await clock.advance(10_000);
    expect([state.asked, losses]).toEqual([1, ['Unauthorized']]);
  });

  it('CON-33 ends no pages for a cluster that refused the token for some seconds, such as after a restart', async () => {
    const { clock, losses, state, judge } = bed();
    Object.assign(state, { code: 'Unauthorized', isRefused: undefined });
    await read(judge());
    await clock.advance(10_000);
    state.isRefused = false;
    await clock.advance(10_000);
    await clock.advance(60_000);
    expect([state.asked, losses]).toEqual([2, []]);
  });

  it('CON-33 ends the pages for a right that was taken away, and not for one that never was', async () => {
    const { losses, state, judge } = bed();
    state.code = 'Forbidden';
    const judged = judge();
    await read(judged);
    expect(losses).toEqual([]);
    state.code = undefined;
    await read(judged);
    state.code = 'Forbidden';
    await read(judged);
    expect([losses, judged.refused.aborted]).toEqual([['Forbidden'], false]);
  });

  it('asks no cluster after the pages have ended', async () => {
    const { clock, losses, stop, state, judge } = bed();
    state.code = 'Unauthorized';
    await read(judge());
    stop.abort();
    await clock.advance(60_000);
    expect([state.asked, losses]).toEqual([0, []]);
  });
});
