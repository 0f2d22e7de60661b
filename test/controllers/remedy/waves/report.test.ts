import { describe, expect, it } from 'vitest';
import type { DefenderLedger, LedgerRule } from '../../../../src/api/generated/types.ts';
import { hasWaves, proofOf, versionToAnnounce } from '../../../../src/controllers/remedy/waves/report.ts';
import { behaviorDigest } from '../../../../src/rollout/rule-waves/rule-digest.ts';
import { ledgerSpec } from '../../../defender/builders.ts';
import { ago, ledgerRule } from '../../../rollout/rule-waves/builders.ts';
import { NOW } from '../../../support/builders.ts';
import { remedier } from '../../../support/remediers.ts';

const RULE = remedier({ '/mode': 'Enforce' }, { annotations: { 'kubenode.dev/commit': '4f2c9e1a77b0' } });
const DIGEST = behaviorDigest(RULE);

function ledger(fields?: Partial<LedgerRule>): DefenderLedger {
  const rules = fields && {
    'kernel-hang': ledgerRule({ digest: DIGEST, heardAt: NOW.toISOString(), ...fields }),
  };
  const spec = ledgerSpec(rules ? { rules } : {});
  return { apiVersion: 'kubenode.dev/v1alpha1', kind: 'DefenderLedger', metadata: { name: 'default' }, spec };
}

function explain(fields?: Partial<LedgerRule>, rule = RULE): string {
  const proof = proofOf({ remedier: rule, ledger: ledger(fields), machines: () => 100, now: NOW });
  if (!proof) return 'no waves';
  const {
    condition: { status, reason, message },
    wave,
    failure,
  } = proof;
  return [
    `${status} ${reason}: ${message}`,
    ...(wave ? [JSON.stringify(wave)] : []),
    ...(failure ? ['holds the rule'] : []),
  ].join(' | ');
}

describe('the proof of a rule in its status', () => {
  it.each<[name: string, actual: string, expected: string]>([
    [
      'is not known before the Defender has the rule',
      explain(),
      'Unknown NotRecorded: the Defender has not recorded this version of the rule yet',
    ],
    [
      'is not known while the Defender has another version',
      explain({ digest: 'other' }),
      'Unknown NotRecorded: the Defender has not recorded this version of the rule yet',
    ],
    [
      'is complete after the last wave',
      explain({ proven: [DIGEST] }),
      'True WavesPassed: its waves passed: it repairs as many machines as the policies permit',
    ],
    [
      'has no percentage before a repair ended',
      explain({}),
      `False InWave: wave 1 of 4: 0 of at most 1 machines, 0 repairs succeeded, 0 failed | {"index":1,"machines":0,"since":"${ago(7200)}"}`,
    ],
    [
      'has the numbers of the wave',
      explain({ wave: 2, succeeded: 2, endedAt: ago(0) }),
      `False InWave: wave 2 of 4: 2 of at most 5 machines, 2 repairs succeeded, 0 failed; it passes at ${ago(-1800)} if none fails until then | {"index":2,"machines":2,"since":"${ago(7200)}","successPercent":100}`,
    ],
    [
      'holds the rule after a wave that failed',
      explain({ failed: ['m-1'] }),
      `False WaveFailed: wave 1 of 4: 1 of 1 repairs failed, and at least 90 % must succeed: change or revert the rule | {"index":1,"machines":1,"since":"${ago(7200)}","successPercent":0} | holds the rule`,
    ],
    ['is absent for a rule that shadows', explain({}, remedier({ '/mode': 'Shadow' })), 'no waves'],
  ])('R10 the proof of a rule %s', (_, actual, expected) => {
    expect(actual).toBe(expected);
  });

  it('R10 announces a version that the ledger does not have, and once a day that the rule exists', () => {
    const version = { rule: 'kernel-hang', digest: DIGEST };
    expect(versionToAnnounce(RULE, ledger(), NOW)).toEqual(version);
    expect(versionToAnnounce(RULE, ledger({ digest: 'other' }), NOW)).toEqual(version);
    expect(versionToAnnounce(RULE, ledger({}), NOW)).toBeUndefined();
    expect(versionToAnnounce(RULE, ledger({ heardAt: ago(86_400) }), NOW)).toEqual(version);
    expect(versionToAnnounce(RULE, undefined, NOW)).toBeUndefined();
    expect(versionToAnnounce(remedier({ '/mode': 'Observe' }), ledger(), NOW)).toBeUndefined();
    expect(hasWaves(remedier({ '/mode': 'Enforce' }))).toBe(false);
  });
});
