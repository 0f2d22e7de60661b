import { describe, expect, it } from 'vitest';
import {
  type CertificateInput,
  type HeldCertificate,
  planCertificate,
  renewalTime,
} from '../../../src/agent/identity/plan.ts';
import { NOW } from '../../support/virtual-clock.ts';

const hours = (count: number): Date => new Date(NOW.getTime() + count * 3_600_000);

/** Valid for ten hours, of which these have passed. */
function held(passed: number, keySha256 = 'ffffffff00'): HeldCertificate {
  return { notBefore: hours(-passed), notAfter: hours(10 - passed), keySha256 };
}

function explain(input: Partial<CertificateInput>): string {
  const step = planCertificate({ request: { state: 'NotRead' }, now: NOW, ...input });
  if (step.type === 'Wait') return `Wait ${(step.until.getTime() - NOW.getTime()) / 3_600_000} h`;
  return 'because' in step ? `${step.type}: ${step.because}` : step.type;
}

describe('planCertificate', () => {
  it.each<[string, Partial<CertificateInput>, string]>([
    ['makes a key when there is nothing', {}, 'CreateKey: there is no certificate'],
    [
      'makes another key when another authority issues',
      { held: held(1), isSuperseded: true },
      'CreateKey: the authorities were rotated',
    ],
    [
      'finishes the request of a key first',
      { held: held(1), isSuperseded: true, pendingKey: 'aa' },
      'ReadRequest',
    ],
    ['waits until it is time to renew', { held: held(1) }, 'Wait 5.5 h'],
    [
      'makes another key when it is',
      { held: held(6.5) },
      `CreateKey: the certificate ends at ${hours(3.5).toISOString()}`,
    ],
    [
      'makes another key after the end',
      { held: held(11) },
      `CreateKey: the certificate ends at ${hours(-1).toISOString()}`,
    ],
    ['reads the request of a key that waits', { pendingKey: 'aa' }, 'ReadRequest'],
    [
      'creates a request that is missing',
      { pendingKey: 'aa', request: { state: 'Missing' } },
      'CreateRequest',
    ],
    ['waits for the approver', { pendingKey: 'aa', request: { state: 'Pending' } }, 'Poll'],
    ['waits for the signer', { pendingKey: 'aa', request: { state: 'Approved' } }, 'Poll'],
    ['stores a certificate', { pendingKey: 'aa', request: { state: 'Issued' } }, 'Store'],
    [
      'stores a renewed certificate, too',
      { held: held(7), pendingKey: 'aa', request: { state: 'Issued' } },
      'Store',
    ],
    [
      'gives up a key that is denied',
      { pendingKey: 'aa', request: { state: 'Denied', because: 'WrongUid: it is another Machine' } },
      'GiveUp: the request was denied: WrongUid: it is another Machine',
    ],
    [
      'gives up a certificate that is not its own',
      { pendingKey: 'aa', request: { state: 'Issued', problem: 'not for this key' } },
      'GiveUp: not for this key',
    ],
    [
      'forgets a key whose certificate is stored',
      { held: held(0, 'aa'), pendingKey: 'aa', request: { state: 'NotRead' } },
      'Forget',
    ],
  ])('%s', (_, input, expected) => {
    expect(explain(input)).toBe(expected);
  });
});

describe('renewalTime', () => {
  it('MAC-14 renews each certificate before 70 percent of its life, and a fleet at different times', () => {
    const keys = Array.from({ length: 100 }, (_, index) =>
      (index * 0x0290_0000).toString(16).padStart(8, '0'),
    );
    const passed = keys.map((key) => (renewalTime(held(0, key)).getTime() - NOW.getTime()) / 36_000_000);
    expect(Math.min(...passed)).toBe(0.5);
    expect(Math.max(...passed)).toBeLessThan(0.66);
    expect(new Set(passed).size).toBe(100);
  });
});
