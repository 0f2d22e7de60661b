import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  certificatesIn,
  formatDocument,
  issuerOf,
  parseSigned,
  splitPem,
} from '../../../src/api/authorities/document.ts';
import { certificateBy, documentOf, signedBy, testAuthority } from '../../support/authorities.ts';

const [OLD, NEW, FOREIGN] = [testAuthority('old'), testAuthority('new'), testAuthority('foreign')];
const BOTH = documentOf([OLD, NEW]);

function problemOf(parts: object): string | undefined {
  const parsed = parseSigned({ ...signedBy([OLD], JSON.stringify({ ...BOTH, ...parts })) });
  return 'problem' in parsed ? parsed.problem : undefined;
}

describe('a signed document of authorities', () => {
  it('is read as it was formatted, with its authorities by their SHA-256', () => {
    const parsed = parseSigned({ ...signedBy([OLD], BOTH) });
    if ('problem' in parsed) throw new Error(parsed.problem);
    expect(parsed.document).toEqual(BOTH);
    expect([...parsed.authorities.keys()]).toEqual([OLD.sha256, NEW.sha256]);
    expect(Object.keys(parsed.signatures)).toEqual([OLD.sha256]);
  });

  it('has one text for the same content, whatever the order of its fields', () => {
    const turned = Object.fromEntries(Object.entries(BOTH).toReversed()) as unknown as typeof BOTH;
    expect(formatDocument(turned)).toBe(formatDocument(BOTH));
  });

  const FORMAT = 'the document is not one of this format';
  const ONE = 'an authority cannot be read: expected one certificate in PEM';
  it.each<[what: string, parts: object, problem: string | undefined]>([
    ['nothing else', {}, undefined],
    ['an order of 0', { order: 0 }, FORMAT],
    ['an order as text', { order: '2' }, FORMAT],
    ['an order that no number can hold', { order: 2 ** 53 }, FORMAT],
    ['a phase of another version', { phase: 'TrustAll' }, FORMAT],
    ['a UID that is too long', { cluster: 'u'.repeat(129) }, FORMAT],
    ['no authority', { authorities: [] }, FORMAT],
    ['five authorities', { authorities: Array.from({ length: 5 }, () => OLD.certPem) }, FORMAT],
    ['two certificates in one text', { authorities: [OLD.certPem + NEW.certPem] }, ONE],
    ['a text behind the certificate', { authorities: [`${OLD.certPem}more`] }, ONE],
    [
      'a certificate of a client',
      { authorities: [OLD.certPem, certificateBy(OLD).certPem] },
      'an authority cannot be read: it is not an authority',
    ],
    [
      'an issuer that is not trusted',
      { issuer: FOREIGN.sha256 },
      'the authority that issues is not one of the trusted ones',
    ],
  ])('is judged when it has %s', (_, parts, problem) => {
    expect(problemOf(parts)).toBe(problem);
  });

  it.each<[what: string, data: Readonly<Record<string, unknown>> | undefined, problem: string]>([
    ['without data', undefined, 'expected the keys document and signatures'],
    ['without signatures', { document: formatDocument(BOTH) }, 'expected the keys document and signatures'],
    ['that is not JSON', { document: '{', signatures: '{}' }, FORMAT],
    ['that is a list', { document: '[]', signatures: '{}' }, FORMAT],
    [
      'whose signatures are numbers',
      { document: formatDocument(BOTH), signatures: '{"a":1}' },
      'the signatures are not of this format',
    ],
    [
      'that is too long',
      { document: ' '.repeat(65_536), signatures: '{}' },
      'it has 65538 characters, and at most 65536 are read',
    ],
  ])('is not read from a ConfigMap %s', (_, data, problem) => {
    expect(parseSigned(data)).toEqual({ problem });
  });
});

describe('certificates in a text', () => {
  it('are found one by one, and the others are left out', () => {
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    expect(splitPem(OLD.certPem + broken)).toEqual([OLD.certPem, broken]);
    expect([...certificatesIn(`text\n${OLD.certPem}${broken}${NEW.certPem}`).keys()]).toEqual([
      OLD.sha256,
      NEW.sha256,
    ]);
  });

  it('have the authority that signed them, and no other one', () => {
    const client = new X509Certificate(certificateBy(NEW).certPem);
    expect(issuerOf(client, certificatesIn(OLD.certPem + NEW.certPem))).toBe(NEW.sha256);
    expect(issuerOf(client, certificatesIn(OLD.certPem + FOREIGN.certPem))).toBeUndefined();
  });
});
