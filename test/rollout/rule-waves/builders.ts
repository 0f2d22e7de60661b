/** Records of rules in the ledger: in wave 1 of the usual terms, with nothing repaired yet. */
import type { LedgerGrant, LedgerRule, RuleWaves } from '../../../src/api/generated/types.ts';
import { NOW } from '../../support/builders.ts';

/** As the Defender writes times. */
export function ago(seconds: number): string {
  return new Date(+NOW - seconds * 1000).toISOString();
}

export const TERMS: RuleWaves = { waves: [1, '5%', '20%', '100%'], soakSeconds: 1800, minSuccessPercent: 90 };

export function ledgerRule(fields: Partial<LedgerRule> = {}): LedgerRule {
  return {
    digest: 'd-1',
    proven: [],
    wave: 1,
    since: ago(7200),
    heardAt: ago(7200),
    succeeded: 0,
    failed: [],
    moreFailed: 0,
    terms: TERMS,
    ...fields,
  };
}

export function repairGrant(fields: Partial<LedgerGrant> = {}): LedgerGrant {
  return {
    id: 'g-1-0',
    fence: 1,
    state: 'Started',
    holder: { kind: 'RemedyOperationJob', name: 'job', origin: 'NodeRemedier/hang', revision: 'r-1' },
    action: 'Reboot',
    risk: 'Node',
    issuedAt: ago(60),
    notAfter: ago(-240),
    ruleDigest: 'd-1',
    ...fields,
  };
}
