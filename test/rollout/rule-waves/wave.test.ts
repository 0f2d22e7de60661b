import { describe, expect, it } from 'vitest';
import type { LedgerGrant, LedgerRule } from '../../../src/api/generated/types.ts';
import {
  countsInWave,
  machinesInWave,
  mayBegin,
  ruleOfOrigin,
  waveOf,
  waveText,
} from '../../../src/rollout/rule-waves/wave.ts';
import { NOW } from '../../support/builders.ts';
import { ago, ledgerRule, repairGrant } from './builders.ts';

interface Situation {
  readonly entry?: Partial<LedgerRule>;
  readonly grants?: Readonly<Record<string, LedgerGrant>>;
  readonly machines?: number;
}

function explain({ entry: fields, grants = {}, machines = 100 }: Situation, machine = 'm-9'): string {
  const entry = ledgerRule(fields);
  const wave = waveOf({ rule: 'hang', entry, ledger: { grants }, machines, now: NOW });
  const verdict = mayBegin(machine, entry, wave);
  return verdict.permitted ? 'permitted' : verdict.because;
}

const OTHER = { ...repairGrant(), holder: { ...repairGrant().holder, origin: 'NodeRemedier/disk' } };

function text(fields: Partial<LedgerRule>): string {
  const entry = ledgerRule(fields);
  const wave = waveOf({ rule: 'hang', entry, ledger: { grants: {} }, machines: 100, now: NOW });
  return waveText(wave, machinesInWave(entry, wave));
}

describe('a wave of a rule', () => {
  it.each<[name: string, situation: Situation, expected: string]>([
    ['permits the first machine', {}, 'permitted'],
    [
      'is full with one machine in work',
      { grants: { 'm-1': repairGrant() } },
      '1 of at most 1 machines; in work: m-1',
    ],
    [
      'counts a grant that was not used yet',
      { grants: { 'm-1': repairGrant({ state: 'Granted' }) } },
      '1 of at most 1 machines; in work: m-1',
    ],
    [
      'counts a repair that is past its end',
      { grants: { 'm-1': repairGrant({ notAfter: ago(9) }) } },
      '1 of at most 1 machines; in work: m-1',
    ],
    [
      'counts a repair by another version',
      { grants: { 'm-1': repairGrant({ ruleDigest: 'd-0' }) } },
      '1 of at most 1 machines; in work: m-1',
    ],
    [
      'does not count a grant that lapsed',
      { grants: { 'm-1': repairGrant({ state: 'Granted', notAfter: ago(9) }) } },
      'permitted',
    ],
    ['does not count a hand-off', { grants: { 'm-1': repairGrant({ action: 'HandOff' }) } }, 'permitted'],
    ['does not count other rules', { grants: { 'm-1': OTHER } }, 'permitted'],
    [
      'soaks after a repair that succeeded',
      { entry: { succeeded: 1, endedAt: ago(600) } },
      `1 of at most 1 machines; the next wave begins at ${ago(-1200)}`,
    ],
    [
      'fails with its only repair',
      { entry: { failed: ['m-1'], endedAt: ago(600) } },
      '1 of 1 repairs failed, and at least 90 % must succeed: change or revert the rule',
    ],
    [
      'waits after a version that was not proven',
      { entry: { opensAt: ago(-60) } },
      `a repair that proved nothing ended before, so the next may begin at ${ago(-60)}`,
    ],
    ['opens at that moment', { entry: { opensAt: ago(0) } }, 'permitted'],
    [
      'does not wait for a moment that is later than a soak',
      { entry: { opensAt: ago(-999_999) } },
      `a repair that proved nothing ended before, so the next may begin at ${ago(-1800)}`,
    ],
    ['permits a percentage of the machines', { entry: { wave: 2, succeeded: 4 } }, 'permitted'],
    [
      'is full at a percentage of the machines',
      { entry: { wave: 2, succeeded: 5, endedAt: ago(0) } },
      `5 of at most 5 machines; the next wave begins at ${ago(-1800)}`,
    ],
    ['permits at least one machine', { entry: { wave: 2 }, machines: 3 }, 'permitted'],
    [
      'permits one machine of a cluster whose machines are not known',
      { entry: { wave: 2 }, machines: 0 },
      'permitted',
    ],
    [
      'tolerates a failure in a wave of ten',
      { entry: { wave: 2, succeeded: 3, failed: ['m-1'] }, machines: 200 },
      'permitted',
    ],
    [
      'stops at the second failure of ten',
      { entry: { wave: 2, succeeded: 3, failed: ['m-1', 'm-2'] }, machines: 200 },
      '2 of 5 repairs failed, and at least 90 % must succeed: change or revert the rule',
    ],
    [
      'counts failures that are not named',
      { entry: { wave: 2, moreFailed: 2 }, machines: 200 },
      '2 of 2 repairs failed, and at least 90 % must succeed: change or revert the rule',
    ],
  ])('R10 a wave of a rule %s', (_, situation, expected) => {
    expect(explain(situation)).toBe(expected);
  });

  it('R10 lets the ladder of a machine go on after the wave failed, and counts that machine once', () => {
    const entry = { failed: ['m-1'], endedAt: ago(60) };
    expect(explain({ entry }, 'm-1')).toBe('permitted');
    const wave = waveOf({
      rule: 'hang',
      entry: ledgerRule(entry),
      ledger: { grants: { 'm-1': repairGrant() } },
      machines: 9,
      now: NOW,
    });
    expect(machinesInWave(ledgerRule(entry), wave)).toBe(1);
  });

  it('R10 is judged by what was in force when the version appeared, and by what was tightened since', () => {
    const entry = ledgerRule({ succeeded: 1, endedAt: ago(2000) });
    const judged = (soakSeconds: number): Date | undefined =>
      waveOf({
        rule: 'hang',
        entry,
        ledger: { grants: {} },
        policy: { ...entry.terms, soakSeconds },
        machines: 9,
        now: NOW,
      }).passesAt;
    expect(judged(1)).toEqual(new Date(ago(200)));
    expect(judged(7200)).toEqual(new Date(ago(-5200)));
  });

  it('R10 tells people its numbers and what is next', () => {
    expect(text({})).toBe('0 of at most 1 machines, 0 repairs succeeded, 0 failed');
    expect(text({ wave: 2, succeeded: 2, endedAt: ago(0) })).toBe(
      `2 of at most 5 machines, 2 repairs succeeded, 0 failed; it passes at ${ago(-1800)} if none fails until then`,
    );
    expect(text({ opensAt: ago(-5) })).toContain(`the next repair may begin at ${ago(-5)}`);
    expect(text({ failed: ['m-1'] })).toContain('change or revert the rule');
  });

  it('R10 is only for acts of rules, and not for hand-offs', () => {
    expect(ruleOfOrigin('NodeRemedier/a')).toBe('a');
    expect(ruleOfOrigin('MachineComponentSet/a')).toBeUndefined();
    expect(ruleOfOrigin(undefined)).toBeUndefined();
    expect([countsInWave({ action: 'HandOff' }), countsInWave({ action: 'CleanDisk' })]).toEqual([
      false,
      true,
    ]);
  });
});
