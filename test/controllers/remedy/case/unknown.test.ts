import { describe, expect, it } from 'vitest';
import { handOffOnly, unknownResult } from '../../../../src/controllers/remedy/case/unknown.ts';
import type { RemedyFinding } from '../../../../src/controllers/remedy/findings.ts';
import type { MatchBound } from '../../../../src/controllers/remedy/targets.ts';
import { ago, NOW } from '../../../support/builders.ts';
import { remedier } from '../../../support/remediers.ts';

const BOUND: MatchBound = { targets: 100, unseen: 0, matched: 0, unknown: 5, limit: 5, percent: 5 };

function explain(
  { action = 'HandOff', mode = 'Enforce' }: { action?: string; mode?: string },
  finding: Partial<RemedyFinding> = {},
  bound: Partial<MatchBound> = {},
): string {
  const rule = remedier({ '/mode': mode, '/rule/onIndeterminate': { action, afterSeconds: 600 } });
  const found = {
    outcome: 'Indeterminate',
    because: 'xid is unknown',
    isSinceKnown: false,
    ...finding,
  } as const;
  const result = unknownResult({ remedier: rule, finding: found, bound: { ...BOUND, ...bound } }, NOW);
  if (!result) return 'known';
  if ('why' in result) return `hand off since ${result.since.toISOString()}: ${result.why}`;
  const { message, until } = result.wait;
  return until ? `wait until ${until.toISOString()}: ${message}` : `wait: ${message}`;
}

function step(name: string): object {
  return { step: name, timeoutSeconds: 60 };
}

const LONG = { unknownSince: new Date(ago(600)) };

describe('a result that stays Indeterminate', () => {
  it.each<[name: string, actual: string, expected: string]>([
    ['is known otherwise', explain({}, { outcome: 'Match' }), 'known'],
    ['is only reported without an action', explain({ action: 'Wait' }, LONG), 'wait: xid is unknown'],
    ['is only reported by a rule that observes', explain({ mode: 'Observe' }, LONG), 'wait: xid is unknown'],
    [
      'waits as long as its rule states',
      explain({}, { unknownSince: new Date(ago(599)) }),
      'wait until 2030-01-01T12:00:01.000Z: xid is unknown',
    ],
    [
      'begins to wait when nothing is known of its begin',
      explain({}),
      'wait until 2030-01-01T12:10:00.000Z: xid is unknown',
    ],
    [
      'is handed off then',
      explain({}, LONG),
      'hand off since 2030-01-01T11:50:00.000Z: it is not known for 600 s whether the machine is faulty: xid is unknown',
    ],
    [
      'is not handed off on many machines',
      explain({}, LONG, { unknown: 6 }),
      'wait: xid is unknown; 6 of 100 targets are unknown, and at most 5 may be handed off (5 %): check what reports the fact',
    ],
  ])('R5 an Indeterminate result of a rule %s', (_, actual, expected) => {
    expect(actual).toBe(expected);
  });

  it('R5 is handed off without the other steps of the last rung', () => {
    const rung = {
      name: 'person',
      maxAttempts: 1,
      retrySeconds: 600,
      plan: [step('Cordon'), step('HandOff')],
      onVerified: [step('Uncordon')],
    };
    const only = handOffOnly(rung as unknown as Parameters<typeof handOffOnly>[0]);
    expect([only.plan.map(({ step: name }) => name), only.onVerified]).toEqual([['HandOff'], []]);
  });
});
