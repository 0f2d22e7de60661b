import { describe, expect, it } from 'vitest';
import type { RemedyWait } from '../../../src/api/status/rule-waits.ts';
import type { Findings, RemedyFinding } from '../../../src/controllers/remedy/findings.ts';
import { rememberFindings, rememberWaits } from '../../../src/controllers/remedy/machine-findings.ts';
import { machine, NOW, node } from '../../support/builders.ts';
import { remedier } from '../../support/remediers.ts';

const SUBJECT = { machine: machine('m-1'), node: node('m-1', 'True', { uid: 'node-1' }) };
const DENIED: RemedyWait = { reason: 'Denied', message: 'stop', denial: 'KillSwitch' };
const HELD: RemedyWait = { reason: 'HumanHold', message: 'disk swap' };

function found(outcome: RemedyFinding['outcome']): Parameters<typeof rememberFindings>[1] {
  return [{ remedier: remedier(), finding: { outcome, because: 'it is', isSinceKnown: true } }];
}

interface Memory {
  readonly findings: Findings;
  readonly ruleChanged: (rule: string) => void;
  readonly now: Date;
  /** Since this was last asked. */
  readonly changed: () => readonly string[];
}

function memory(): Memory {
  const rules: string[] = [];
  return {
    findings: new Map(),
    ruleChanged: (rule) => rules.push(rule),
    now: NOW,
    changed: () => rules.splice(0),
  };
}

describe('what is remembered of a machine', () => {
  it('concerns its rule when the outcome changes, and when the rule is no longer evaluated', () => {
    const kept = memory();
    rememberFindings(SUBJECT, found('Match'), kept);
    expect(kept.changed()).toEqual(['kernel-hang']);
    rememberFindings(SUBJECT, found('Match'), kept);
    expect(kept.changed()).toEqual([]);
    rememberFindings(SUBJECT, [], kept);
    expect(kept.changed()).toEqual(['kernel-hang']);
    expect(kept.findings.get('m-1')?.nodeUID).toBe('node-1');
  });

  it('keeps the wait while the fault stays, and not afterwards', () => {
    const kept = memory();
    rememberFindings(SUBJECT, found('Match'), kept);
    rememberWaits('m-1', new Map([['kernel-hang', DENIED]]), kept);
    rememberFindings(SUBJECT, found('Held'), kept);
    expect(kept.findings.get('m-1')?.byRule.get('kernel-hang')?.wait).toEqual(DENIED);
    rememberFindings(SUBJECT, found('NoMatch'), kept);
    expect(kept.findings.get('m-1')?.byRule.get('kernel-hang')?.wait).toBeUndefined();
  });

  it('keeps when a reason began, also when the fault is evaluated again, until the reason is another', () => {
    const kept = memory();
    const later = { ...kept, now: new Date(+NOW + 60_000) };
    const since = (): Date | undefined => kept.findings.get('m-1')?.byRule.get('kernel-hang')?.waitSince;
    rememberFindings(SUBJECT, found('Match'), kept);
    rememberWaits('m-1', new Map([['kernel-hang', DENIED]]), kept);
    rememberFindings(SUBJECT, found('Match'), kept);
    rememberWaits('m-1', new Map([['kernel-hang', { ...DENIED, message: 'still' }]]), later);
    expect(since()).toEqual(NOW);
    const other = { ...DENIED, denial: 'BreakerOpen' };
    rememberWaits('m-1', new Map([['kernel-hang', other]]), later);
    expect(since()).toEqual(later.now);
    rememberWaits('m-1', new Map(), later);
    expect(since()).toBeUndefined();
  });

  it('returns each new reason once, but none that is a choice', () => {
    const kept = memory();
    rememberFindings(SUBJECT, found('Match'), kept);
    kept.changed();
    expect(rememberWaits('m-1', new Map([['kernel-hang', DENIED]]), kept)).toEqual([['kernel-hang', DENIED]]);
    expect(kept.changed()).toEqual(['kernel-hang']);
    expect(rememberWaits('m-1', new Map([['kernel-hang', DENIED]]), kept)).toEqual([]);
    const other = { ...DENIED, denial: 'NodeInterval' };
    expect(rememberWaits('m-1', new Map([['kernel-hang', other]]), kept)).toEqual([['kernel-hang', other]]);
    expect(rememberWaits('m-1', new Map([['kernel-hang', HELD]]), kept)).toEqual([['kernel-hang', HELD]]);
    const shadow = new Map([['kernel-hang', { reason: 'Shadow', message: 'mode' } as const]]);
    expect(rememberWaits('m-1', shadow, kept)).toEqual([]);
    expect(rememberWaits('m-9', shadow, kept)).toEqual([]);
  });
});
