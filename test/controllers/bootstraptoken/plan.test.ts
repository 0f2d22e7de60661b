import { describe, expect, it } from 'vitest';
import { planToken, type TokenInput, type TokenUse } from '../../../src/controllers/bootstraptoken/plan.ts';
import { NOW } from '../../support/virtual-clock.ts';

const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);
const record = {
  id: 'abc123',
  secretUid: 'secret-1',
  expiresAt: at(600).toISOString(),
  epoch: 0,
  replacesAgent: false,
};

function use(change: Partial<TokenUse> = {}): TokenUse {
  return { name: 'r1', decision: 'Approved', decidedAt: at(-20), issued: true, ...change };
}

function explain(input: Partial<TokenInput>): string {
  const plan = planToken({ record, uses: [], heartbeatAt: undefined, now: NOW, ...input });
  if (plan.type === 'Delete') return `delete${plan.used ? ' used' : ''}: ${plan.because}`;
  const until = plan.until ? ` for ${(plan.until.getTime() - NOW.getTime()) / 1000} s` : '';
  return `keep${until}: ${plan.because}`;
}

describe('planToken', () => {
  it.each<[string, Partial<TokenInput>, string]>([
    ['keeps a token that was not used', {}, 'keep for 600 s: the token was not used yet'],
    [
      'keeps it while its request is pending',
      { uses: [use({ decision: 'Pending', issued: false })] },
      'keep for 600 s: the token was not used yet',
    ],
    [
      'keeps it until the certificate is issued',
      { uses: [use({ issued: false })] },
      'keep for 600 s: the token was not used yet',
    ],
    [
      'keeps it while the host reads its certificate',
      { uses: [use()], heartbeatAt: at(-21) },
      'keep for 40 s: the host reads the certificate of request r1',
    ],
    [
      'deletes it when the agent uses its certificate',
      { uses: [use()], heartbeatAt: at(-19) },
      'delete used: the agent uses the certificate of request r1',
    ],
    [
      'deletes it a minute after the certificate was issued',
      { uses: [use({ decidedAt: at(-60) })] },
      'delete used: the certificate of request r1 was issued a minute ago',
    ],
    [
      'deletes it when a request with it was denied',
      { uses: [use(), use({ name: 'r2', decision: 'Denied' })] },
      'delete: request r2 with the token was denied',
    ],
    [
      'deletes it at its end',
      { record: { ...record, expiresAt: NOW.toISOString() } },
      'delete: the token expired',
    ],
    [
      'deletes it when its end cannot be read',
      { record: { ...record, expiresAt: 'soon' } },
      'delete: the token expired',
    ],
    [
      'has nothing to do when the token is deleted',
      { record: { id: 'abc123', expiresAt: record.expiresAt, epoch: 0, replacesAgent: false } },
      'keep: its token is deleted',
    ],
  ])('%s', (_, input, expected) => {
    expect(explain(input)).toBe(expected);
  });
});
