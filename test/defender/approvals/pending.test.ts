import { describe, expect, it } from 'vitest';
import type { Denial } from '../../../src/api/grants.ts';
import { createPendingApprovals, hearAsk } from '../../../src/defender/approvals/pending.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { ago, ask } from '../builders.ts';

const PENDING: Denial = {
  granted: false,
  reason: 'NodeBusy',
  message: 'busy',
  also: [{ reason: 'ApprovalPending', message: 'Reboot of m-1 waits for the approval of sre' }],
};
const BUSY: Denial = { ...PENDING, also: [] };

describe('the acts that wait for a person', () => {
  it('lists an act from its first ask, also when other reasons deny it', async () => {
    const clock = virtualClock();
    const pending = createPendingApprovals(clock);
    const since = clock.now().toISOString();
    pending.asked(ask(), PENDING);
    await clock.advance(60_000);
    pending.asked(ask(), PENDING);
    expect(pending.list({})).toEqual([
      {
        machine: 'm-1',
        action: 'Reboot',
        risk: 'Node',
        holder: { kind: 'RemedyOperationJob', name: 'm-1-job' },
        since,
        message: 'Reboot of m-1 waits for the approval of sre',
      },
    ]);
  });

  it('drops an act that is granted, waits for something else, is answered, or is not asked for during an hour', async () => {
    const clock = virtualClock();
    const pending = createPendingApprovals(clock);
    const names = (approvals = {}): readonly string[] =>
      pending.list(approvals).map(({ machine }) => machine);
    for (const machine of ['m-1', 'm-2', 'm-3', 'm-4']) pending.asked(ask({ machine }), PENDING);
    pending.asked(ask({ machine: 'm-1' }), undefined);
    pending.asked(ask({ machine: 'm-2' }), BUSY);
    const answer = {
      action: 'Reboot',
      holder: 'm-3-job',
      decision: 'Refused',
      by: 'ann',
      at: ago(1),
      until: ago(-1),
    };
    expect(names({ 'm-3': answer })).toEqual(['m-4']);
    expect(names()).toEqual(['m-3', 'm-4']);
    await clock.advance(3_599_000);
    pending.asked(ask({ machine: 'm-4' }), PENDING);
    await clock.advance(1000);
    expect(names()).toEqual(['m-4']);
  });

  it('hears asks, and neither dry runs nor renewals', () => {
    const pending = createPendingApprovals(virtualClock());
    const answer = { kind: 'denial', denial: PENDING } as const;
    const renewal = { id: 'g-1', fence: 1 };
    hearAsk(pending, { request: { kind: 'renew', renewal }, answer, seconds: 0 });
    hearAsk(pending, { request: { kind: 'ask', ask: ask(), dryRun: true }, answer, seconds: 0 });
    expect(pending.list({})).toEqual([]);
    hearAsk(pending, { request: { kind: 'ask', ask: ask() }, answer, seconds: 0 });
    expect(pending.list({}).length).toBe(1);
    hearAsk(pending, {
      request: { kind: 'ask', ask: ask() },
      answer: { kind: 'allowance', allowance: { granted: true, dryRun: true } },
      seconds: 0,
    });
    expect(pending.list({})).toEqual([]);
  });

  it('shows the first 20, and remembers a bounded number', async () => {
    const clock = virtualClock();
    const pending = createPendingApprovals(clock);
    for (let index = 0; index < 500; index += 1) {
      pending.asked(ask({ machine: `m-${index}` }), PENDING);
      await clock.advance(1);
    }
    const shown = pending.list({});
    expect([shown.length, shown[0]?.machine, shown.at(-1)?.machine]).toEqual([20, 'm-0', 'm-19']);
    for (let index = 0; index < 200; index += 1) pending.asked(ask({ machine: `m-${index}` }), undefined);
    expect(pending.list({})).toEqual([]);
  });
});
