/** What keeps a rollout from beginning anything, one of each kind, and the reason that the Defender gives. */
import type { DenyReason } from '../../../../src/api/deny-reasons.ts';
import { breaker } from '../../../defender/builders.ts';
import type { Brake } from './defended-ledger.ts';

const FROM = '2029-12-31T00:00:00.000Z';
const UNTIL = '2030-02-01T00:00:00.000Z';
const STORM = breaker({ name: 'storm', type: 'UnhealthyRatio', per: 'Cluster', percent: 20, count: 3 });
const RATE = {
  name: 'updates',
  per: 'Cluster',
  actions: [],
  risks: [],
  max: 3,
  windowSeconds: 86_400,
} as const;
const SPENT = { bucketSeconds: 7200, firstBucketAt: '2030-01-01T00:00:00.000Z', counts: [3] };

function open(state: 'Open' | 'NeedsPerson'): Brake {
  const its = { state, since: FROM, trips: 1, evidence: '5 of 10 not Ready' };
  return { policy: { breakers: [STORM] }, ledger: { breakers: { 'fleet-default/storm/cluster': its } } };
}

/** Only those that let a recovery through. */
export const BRAKES: Readonly<Partial<Record<DenyReason, Brake>>> = {
  BreakerOpen: open('Open'),
  BreakerNeedsPerson: open('NeedsPerson'),
  ZonalShift: { facts: { zonalShifts: new Set(['a']) } },
  QuietWindow: {
    policy: {
      quiet: [
        { name: 'always', start: '00:00', end: '00:00', timeZone: 'UTC', risks: [], exceptFaultClasses: [] },
      ],
    },
  },
  Freeze: { policy: { freezes: [{ name: 'sale', from: FROM, until: UNTIL, reason: 'sale', risks: [] }] } },
  BlockedByAlert: {
    policy: {
      blockers: {
        foreign: [],
        podLabels: [],
        minNodeAgeSeconds: 0,
        promql: [{ name: 'paging', query: 'x' }],
      },
    },
    facts: { alert: () => ({ state: 'Firing', message: '1 sample' }) },
  },
  ConcurrencyCluster: {
    policy: { concurrency: [{ name: 'none', per: 'Cluster', actions: [], max: 0 }] },
  },
  RateWindow: { policy: { rates: [RATE] }, ledger: { rates: { 'fleet-default/updates/cluster': SPENT } } },
};
