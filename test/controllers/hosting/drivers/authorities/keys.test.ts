import { describe, expect, it } from 'vitest';
import {
  findKey,
  keyContent,
  neededAges,
  tokenKeys,
  unusedIn,
} from '../../../../../src/controllers/hosting/drivers/authorities/keys.ts';
import type { AuthorityAge, RotationPhase } from '../../../../../src/controllers/hosting/drivers/rotation.ts';
import { createServiceAccountKey } from '../../../../../src/local/pki/certificate.ts';
import { keyDigestOf } from '../../../../../src/local/pki/report.ts';
import { testAuthority } from '../../../../support/authorities.ts';

const [former, next] = [createServiceAccountKey(), createServiceAccountKey()];
const both = keyContent('service-accounts', next, former);
const { certPem, keyPem } = testAuthority('one');
const authority = certPem + keyPem;

describe('the keys of a control plane by their digests', () => {
  it('HOS-22 are each found in a file of keys that sign tokens', () => {
    expect([tokenKeys(both), tokenKeys('damaged')]).toEqual([[next, former], []]);
    for (const key of [former, next]) {
      expect(findKey('service-accounts', ['damaged', both], keyDigestOf(key))).toBe(key);
    }
  });

  it('HOS-22 are the first that has the recorded digest, and never another one', () => {
    const other = testAuthority('other');
    const texts = [undefined, 'damaged', other.certPem + other.keyPem, authority];
    expect(findKey('ca', texts, keyDigestOf(authority))).toBe(authority);
    expect(findKey('ca', texts.slice(0, 3), keyDigestOf(authority))).toBeUndefined();
    expect(findKey('ca', texts, undefined)).toBeUndefined();
  });

  it.each<[phase: RotationPhase, hasIssued: boolean, ages: readonly AuthorityAge[]]>([
    ['TrustBoth', false, ['old']],
    ['TrustBoth', true, ['old', 'new']],
    ['IssueNew', true, ['new', 'old']],
    ['TrustNew', true, ['new']],
    ['TrustOld', false, ['old']],
  ])('HOS-22 are needed where they are trusted, once they issued: %s, %s', (phase, hasIssued, ages) => {
    expect(neededAges({ phase, hasIssued })).toEqual(ages);
  });

  it('HOS-22 are named as unused only where some are lost that nothing needs', () => {
    expect([unusedIn(['a', 'b'], ['b']), unusedIn(['b'], ['b'])]).toEqual([{ lostUnused: ['a'] }, {}]);
  });
});
