import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import { createPageEndings, QUIET_MS } from '../../../../src/console/login/members/page-endings.ts';
import { createMemberRefusals, type JudgedClient } from '../../../../src/console/login/members/refusals.ts';
import type { LossOfRights } from '../../../../src/console/login/user-client.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { KubeError, type KubeErrorCode } from '../../../../src/kube/client/errors.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

function bed(clock = virtualClock(), endings = createPageEndings(clock)('anna')) {
  const losses: LossOfRights[] = [];
  const stop = new AbortController();
  /** What a list answers, and then whether the token is refused. */
  const state: {
    code: KubeErrorCode | undefined;
    isRefused: boolean | undefined;
    readonly asked: string[];
  } = { code: undefined, isRefused: true, asked: [] };
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
    endings,
    isRefused: (_, loss, { key }) => {
      state.asked.push(loss === 'Forbidden' ? key : loss);
      return state.isRefused === undefined
        ? Promise.reject(new KubeError('Unreachable', 'down'))
        : Promise.resolve(state.isRefused);
    },
    onLoss(loss, cluster) {
      expect(cluster).toBe('prod');
      losses.push(loss);
      stop.abort();
    },
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

/** Reads with success, and then with this error. */
async function lose(
  judged: JudgedClient,
  state: { code: KubeErrorCode | undefined },
  code: KubeErrorCode,
): Promise<void> {
  state.code = undefined;
  await read(judged);
  state.code = code;
  await read(judged);
}

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
    expect([state.asked, losses]).toEqual([['Unauthorized'], ['Unauthorized']]);
  });

  it('CON-33 ends no pages for a cluster that refused the token for some seconds, such as after a restart', async () => {
    const { clock, losses, state, judge } = bed();
    Object.assign(state, { code: 'Unauthorized', isRefused: undefined });
    await read(judge());
    await clock.advance(10_000);
    state.isRefused = false;
    await clock.advance(10_000);
    await clock.advance(60_000);
    expect([state.asked, losses]).toEqual([['Unauthorized', 'Unauthorized'], []]);
  });

  it('CON-33 hides a cluster for a right that was taken away, ends the pages ten seconds later, and not for one that never was', async () => {
    const { clock, losses, state, judge } = bed();
    state.code = 'Forbidden';
    const judged = judge();
    await read(judged);
    expect(judged.refused.aborted).toBe(false);
    await lose(judged, state, 'Forbidden');
    expect((judged.refused.reason as Error).message).toBe(
      'the API server https://prod forbids what it permitted before: Forbidden for [token]',
    );
    await clock.advance(9999);
    expect([state.asked, losses]).toEqual([[], []]);
    await clock.advance(1);
    expect([state.asked, losses]).toEqual([['list/kubenode.dev/machines//'], ['Forbidden']]);
  });

  it('CON-33 ends no pages for a server that forbids all for some seconds, until it has read its roles', async () => {
    const { clock, losses, state, judge } = bed();
    state.isRefused = false;
    await lose(judge(), state, 'Forbidden');
    await clock.advance(60_000);
    expect([state.asked.length, losses]).toEqual([1, []]);
  });

  it('CON-33 ends the pages of the same credentials once in five minutes, whatever a cluster answers', async () => {
    const clock = virtualClock();
    const endingsOf = createPageEndings(clock);
    const first = bed(clock, endingsOf('anna'));
    await lose(first.judge(), first.state, 'Unauthorized');
    await clock.advance(10_000);
    expect(first.losses).toEqual(['Unauthorized']);
    const [again, other] = [bed(clock, endingsOf('anna')), bed(clock, endingsOf('ben'))];
    const judged = again.judge();
    await lose(judged, again.state, 'Forbidden');
    await lose(other.judge(), other.state, 'Forbidden');
    await clock.advance(QUIET_MS - 1);
    expect([judged.refused.aborted, again.losses, other.losses]).toEqual([true, [], ['Forbidden']]);
    await clock.advance(1);
    expect(again.losses).toEqual(['Forbidden']);
  });

  it('asks no cluster after the pages have ended', async () => {
    const { clock, losses, stop, state, judge } = bed();
    state.code = 'Unauthorized';
    await read(judge());
    stop.abort();
    await clock.advance(60_000);
    expect([state.asked, losses]).toEqual([[], []]);
  });
});
