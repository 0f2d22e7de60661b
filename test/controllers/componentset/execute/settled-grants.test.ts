import { describe, expect, it } from 'vitest';
import type { LedgerGrant } from '../../../../src/api/generated/types.ts';
import type { RolloutGrants } from '../../../../src/controllers/componentset/execute/permissions.ts';
import { createSettledGrants } from '../../../../src/controllers/componentset/execute/settled-grants.ts';
import { grantOf } from '../machine/members.ts';

const OPEN = grantOf(60);
const OTHER = grantOf(60, { id: 'g-1-2' });
const SETTLED = grantOf(60, { state: 'Settled', settledAt: '2030-01-01T00:00:00Z', outcome: 'Succeeded' });

async function none(): Promise<never[]> {
  return [];
}

function bed(
  settle: RolloutGrants['settle'] = async () => undefined,
): ReturnType<typeof createSettledGrants> {
  return createSettledGrants({ ask: none, dryRun: none, renew: none, settle });
}

function states(grants: Readonly<Record<string, LedgerGrant>>): readonly string[] {
  return Object.entries(grants).map(([machine, { id, state }]) => `${machine} ${id} ${state}`);
}

const END = { id: OPEN.id, fence: OPEN.fence, outcome: 'Succeeded' } as const;

describe('createSettledGrants', () => {
  it('shows a grant as settled as soon as the ledger has answered, and no other one', async () => {
    const settled = bed();
    const viewed = { 'm-1': OPEN, 'm-2': OTHER };
    expect(settled.current(viewed)).toBe(viewed);
    await settled.grants.settle([END]);
    expect(states(settled.current(viewed))).toEqual(['m-1 g-1-1 Settled', 'm-2 g-1-2 Started']);
  });

  it('shows the next grant of the machine as the view does', async () => {
    const settled = bed();
    await settled.grants.settle([END]);
    expect(states(settled.current({ 'm-1': OTHER }))).toEqual(['m-1 g-1-2 Started']);
  });

  it('forgets a settlement that the view shows', async () => {
    const settled = bed();
    await settled.grants.settle([END]);
    const viewed = { 'm-1': SETTLED };
    expect(settled.current(viewed)).toBe(viewed);
    expect(states(settled.current({ 'm-1': OPEN }))).toEqual(['m-1 g-1-1 Started']);
  });

  it('takes a settlement that was not written for none', async () => {
    const settled = bed(() => Promise.reject(new Error('the ledger was not written')));
    await expect(settled.grants.settle([END])).rejects.toThrow('not written');
    expect(states(settled.current({ 'm-1': OPEN }))).toEqual(['m-1 g-1-1 Started']);
  });

  it('shows what a set settles as settled before the ledger has answered, and asks after it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const calls: string[] = [];
    const settled = createSettledGrants({
      ask: async () => (calls.push('ask'), []),
      dryRun: none,
      renew: none,
      settle: async () => (calls.push('settle'), promise),
    });
    const ofSet = settled.ofSet('general');
    await ofSet.settle([END]);
    expect(states(settled.current({ 'm-1': OPEN }))).toEqual(['m-1 g-1-1 Settled']);
    await ofSet.ask([]);
    expect(calls).toEqual(['settle', 'ask']);
    resolve();
  });

  it('names the set whose settlement was not written, shows the grant as open again, and then waits for the ledger', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const grants = { ask: none, dryRun: none, renew: none };
    let isReady = false;
    const settle = async (): Promise<void> => {
      if (!isReady) throw new Error('the ledger was not written');
    };
    const settled = createSettledGrants({ ...grants, settle }, resolve);
    const ofSet = settled.ofSet('general');
    await ofSet.settle([END]);
    expect(await promise).toBe('general');
    expect(states(settled.current({ 'm-1': OPEN }))).toEqual(['m-1 g-1-1 Started']);
    await expect(ofSet.settle([END])).rejects.toThrow('not written');
    await expect(settled.ofSet('other').settle([{ ...END, id: 'g-1-9' }])).resolves.toBeUndefined();
    isReady = true;
    await ofSet.settle([END]);
    expect(states(settled.current({ 'm-1': OPEN }))).toEqual(['m-1 g-1-1 Settled']);
  });

  it('is bounded, and shows what it forgot as the view does', async () => {
    const settled = bed();
    await settled.grants.settle([END]);
    await settled.grants.settle(Array.from({ length: 10_000 }, (_, n) => ({ ...END, id: `g-2-${n}` })));
    expect(states(settled.current({ 'm-1': OPEN }))).toEqual(['m-1 g-1-1 Started']);
  });
});
