import { describe, expect, it } from 'vitest';
import {
  type CertificateRequestCondition,
  type CertificateRequestObject,
  decisionOf,
} from '../../../src/kube/auth/certificate-requests.ts';

const CREATED = '2026-11-20T07:00:00Z';
const LATER = '2026-11-20T07:00:05Z';

function request(...conditions: Partial<CertificateRequestCondition>[]): CertificateRequestObject {
  const metadata = { name: 'r1', creationTimestamp: CREATED };
  return { metadata, status: { conditions } } as unknown as CertificateRequestObject;
}

describe('decisionOf', () => {
  it.each<[string, CertificateRequestObject, string]>([
    ['no condition', request(), 'Pending'],
    ['no status', { metadata: { name: 'r1' } } as unknown as CertificateRequestObject, 'Pending'],
    ['an unknown condition', request({ type: 'Seen' }), 'Pending'],
    [
      'an approval',
      request({ type: 'Approved', reason: 'Good', message: 'fine', lastUpdateTime: LATER }),
      `Approved ${LATER} Good: fine`,
    ],
    ['an approval without a time', request({ type: 'Approved' }), `Approved ${CREATED} Approved: `],
    [
      'a denial',
      request({ type: 'Denied', reason: 'Bad', message: 'no', lastUpdateTime: LATER }),
      `Denied ${LATER} Bad: no`,
    ],
    [
      'a failure after the approval',
      request({ type: 'Approved' }, { type: 'Failed', reason: 'Signer' }),
      `Denied ${CREATED} Signer: `,
    ],
  ])('reads %s', (_, object, expected) => {
    const { state, at, because } = decisionOf(object);
    const text = at ? `${state} ${at.toISOString().replace('.000Z', 'Z')} ${because}` : state;
    expect(text).toBe(expected);
  });
});
