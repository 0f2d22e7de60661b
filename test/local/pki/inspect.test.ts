import { describe, expect, it } from 'vitest';
import { ADMIN, ensureClusterPki } from '../../../src/local/pki/authority.ts';
import type { CertificateRequest } from '../../../src/local/pki/certificate.ts';
import { renewalReason } from '../../../src/local/pki/inspect.ts';
import { clientRequest } from '../../../src/local/pki/leaves.ts';
import { lifeOf } from '../../../src/local/pki/lifetime.ts';
import { tempFolder } from '../../support/temp.ts';

const NOW = new Date('2030-01-01T00:00:00.000Z');
const DAY = 86_400_000;

describe('renewalReason', () => {
  it.each([
    ['no reason while it is valid', 0, [], undefined],
    ['no reason until the last month', 335, [], undefined],
    ['that it expires soon', 336, [], 'it expires on 2031-01-01T00:00:00.000Z'],
    ['that it expired', 365, [], 'it expired on 2031-01-01T00:00:00.000Z'],
    ['the missing names', 0, ['localhost', '192.0.2.1'], 'names missing: localhost, 192.0.2.1'],
  ])('returns %s', async (_, days, names, expected) => {
    const folder = tempFolder('problem');
    const { admin, authority } = await ensureClusterPki({ folder, name: 'hub', now: NOW });
    expect(renewalReason(admin, authority, { ...requestAt(later(days)), names })).toBe(expected);
  });

  it.each([
    [254, undefined],
    [256, 'it expires on 2031-01-01T00:00:00.000Z'],
  ])('of 70 %% of its life returns after %i days: %s', async (days, expected) => {
    const { admin, authority } = await ensureClusterPki({
      folder: tempFolder('part'),
      name: 'hub',
      now: NOW,
    });
    const request = { ...requestAt(later(days)), renewAtPercent: 70 };
    expect(renewalReason(admin, authority, request)).toBe(expected);
  });

  it('returns that another CA signed it', async () => {
    const [ours, theirs] = await Promise.all(
      ['a', 'b'].map((name) => ensureClusterPki({ folder: tempFolder(name), name, now: NOW })),
    );
    if (!ours || !theirs) throw new Error('expected two clusters');
    expect(renewalReason(theirs.admin, ours.authority, requestAt(NOW))).toBe('it is signed by another CA');
  });
});

function requestAt(now: Date): CertificateRequest {
  return clientRequest(ADMIN, lifeOf(undefined, now));
}

function later(days: number): Date {
  return new Date(+NOW + days * DAY);
}
