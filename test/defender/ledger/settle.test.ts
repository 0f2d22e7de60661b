import { describe, expect, it } from 'vitest';
import type { LedgerGrant } from '../../../src/api/generated/types.ts';
import type { GrantSettlement } from '../../../src/api/grants.ts';
import { createDraft, type LedgerDraft } from '../../../src/defender/ledger/draft.ts';
import { settleGrant } from '../../../src/defender/ledger/settle.ts';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { entry, ledgerSpec, NOW, policy } from '../builders.ts';

describe('settleGrant', () => {
  it.each<[string, Partial<LedgerGrant>, Partial<GrantSettlement>, string]>([
    ['a deleted machine stays counted', { action: 'DeleteMachine' }, {}, 'Settled, missing'],
    [
      'so it does after an ambiguous deletion',
      { action: 'ReplaceMachine' },
      { outcome: 'Ambiguous' },
      'Settled, missing',
    ],
    ['a rebooted machine is there', { action: 'Reboot' }, {}, 'Settled'],
    [
      'a deletion that did not begin leaves the machine',
      { action: 'DeleteMachine', state: 'Granted' },
      { outcome: 'Unused' },
      'dropped',
    ],
    ['a started act that was not used lingers', {}, { outcome: 'Unused' }, 'Settled'],
    ['a fence from before a recovery settles', {}, { fence: 3 }, 'Settled'],
    ['a fence that was never issued does not', {}, { fence: 8 }, 'Started'],
    ['another grant does not', {}, { id: 'g-x' }, 'Started'],
  ])('R14 settles an act by its effect: %s', (_, fields, settlement, state) => {
    const draft = createDraft(ledgerSpec({ grants: { 'm-1': entry('m-1', fields) } }));
    const input = { policies: preparePolicies([policy()]), facts: { machine: () => undefined }, now: NOW };
    settleGrant(draft, { id: 'g-m-1', fence: 7, outcome: 'Succeeded', ...settlement }, input);
    expect(shown(draft)).toBe(state);
    expect(draft.changed).toBe(state !== 'Started');
  });
});

function shown({ grants, gone }: LedgerDraft): string {
  const missing = gone['m-1'];
  expect(missing ?? { pool: 'web', zone: 'a', since: NOW.toISOString() }).toEqual({
    pool: 'web',
    zone: 'a',
    since: NOW.toISOString(),
  });
  return `${grants['m-1']?.state ?? 'dropped'}${missing ? ', missing' : ''}`;
}
