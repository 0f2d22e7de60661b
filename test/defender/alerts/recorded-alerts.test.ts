import { describe, expect, it } from 'vitest';
import type { DefenderPolicy } from '../../../src/api/generated/types.ts';
import {
  type AskedAlert,
  recordAlerts,
  recordedAlert,
} from '../../../src/defender/alerts/recorded-alerts.ts';
import { ago, NOW, policy } from '../builders.ts';

const PAGING = { name: 'paging', query: 'ALERTS' };

function policyWith(query: string, status?: DefenderPolicy['status']): DefenderPolicy {
  const promql = [{ name: 'paging', query }];
  const declared = policy({ blockers: { foreign: [], podLabels: [], minNodeAgeSeconds: 0, promql } });
  return status ? { ...declared, status } : declared;
}

function recorded(result: Partial<AskedAlert> = {}): DefenderPolicy {
  const found: AskedAlert = { state: 'Quiet', message: 'no sample', at: NOW, ...result };
  const alerts = recordAlerts(policyWith('ALERTS'), () => found, found.at);
  return policyWith('ALERTS', { conditions: [], alerts });
}

const UNASKED = { state: 'Unknown', message: 'Prometheus was not asked yet' };

describe('an answer of Prometheus in the status of its policy', () => {
  it.each<[what: string, policy: DefenderPolicy | undefined, query: string, expected: object]>([
    ['is read as it was recorded', recorded(), 'ALERTS', { state: 'Quiet', message: 'no sample' }],
    [
      'is trusted for 150 s',
      recorded({ at: new Date(ago(150)) }),
      'ALERTS',
      { state: 'Quiet', message: 'no sample' },
    ],
    [
      'is Unknown when it is older',
      recorded({ at: new Date(ago(151)) }),
      'ALERTS',
      { state: 'Unknown', message: `the last answer is of ${ago(151)}` },
    ],
    [
      'is Unknown when it is of the future',
      recorded({ at: new Date(ago(-31)) }),
      'ALERTS',
      { state: 'Unknown', message: `the last answer is of ${ago(-31)}` },
    ],
    ['is not that of another query of the name', recorded(), 'ALERTS{x="y"}', UNASKED],
    ['is Unknown before the first one', policyWith('ALERTS'), 'ALERTS', UNASKED],
    ['is Unknown without the policy', undefined, 'ALERTS', UNASKED],
  ])('R23 a recorded answer of Prometheus %s', (_, declared, query, expected) => {
    expect(recordedAlert(declared, { name: 'paging', query }, NOW)).toEqual(expected);
  });

  it('R23 is kept by a process that has not asked yet, unless the query is another one', () => {
    const before = recorded();
    expect(recordAlerts(before, () => undefined, NOW)).toEqual(before.status?.alerts);
    expect(recordAlerts(policyWith('up', before.status), () => undefined, NOW)).toEqual([]);
  });

  it('R23 is kept by a process that leads again and asked long ago', () => {
    const before = recorded();
    const old: AskedAlert = { state: 'Firing', message: '1 sample', at: new Date(ago(151)) };
    expect(recordAlerts(before, () => old, NOW)).toEqual(before.status?.alerts);
  });

  it('R23 is replaced by the next one, with a message that the status accepts', () => {
    const next = recordAlerts(
      recorded(),
      () => ({ state: 'Firing', message: 'x'.repeat(9999), at: NOW }),
      NOW,
    );
    expect(next).toMatchObject([{ name: PAGING.name, state: 'Firing', message: 'x'.repeat(256) }]);
  });
});
