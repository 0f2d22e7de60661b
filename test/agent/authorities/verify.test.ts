import { describe, expect, it } from 'vitest';
import { decideFollow, type PublishedInput } from '../../../src/agent/authorities/verify.ts';
import { formatDocument } from '../../../src/api/authorities/document.ts';
import { certificateBy, documentOf, signedBy, testAuthority } from '../../support/authorities.ts';

const [OLD, NEW, FOREIGN] = [testAuthority('old'), testAuthority('new'), testAuthority('foreign')];
const BOTH = documentOf([OLD, NEW]);
const ISSUE_NEW = documentOf([NEW, OLD], { order: 2, phase: 'IssueNew' });
const ONLY_NEW = documentOf([NEW], { order: 4, phase: 'TrustNew' });
const ONLY_OLD = documentOf([OLD], { order: 6, phase: 'TrustOld' });
const [CA_OLD, CA_BOTH] = [OLD.certPem, OLD.certPem + NEW.certPem];

function followed(document = BOTH): PublishedInput['followed'] {
  return { cluster: document.cluster, order: document.order, text: formatDocument(document) };
}

function decide(parts: Partial<PublishedInput>): string {
  const decision = decideFollow({ published: undefined, trusted: CA_OLD, followed: undefined, ...parts });
  if (decision.type === 'Follow') return `Follow ${decision.document.phase} ${decision.document.order}`;
  return decision.type === 'Refuse' ? `Refuse: ${decision.because}` : decision.type;
}

function published(signed: object): Readonly<Record<string, unknown>> {
  return { ...signed };
}

/** The document with one field replaced, signed by every authority. */
function other(parts: object): Readonly<Record<string, unknown>> {
  return published(signedBy([OLD, NEW, FOREIGN], JSON.stringify({ ...BOTH, ...parts })));
}

const UNSIGNED = 'Refuse: no authority that this host trusts, and that stays trusted, has signed it';
const UNKNOWN = 'Refuse: it keeps no authority that this host trusts';
const MALFORMED = 'Refuse: the document is not one of this format';

describe('what an agent follows of published authorities', () => {
  it.each<[what: string, parts: Partial<PublishedInput>, expected: string]>([
    ['nothing where nothing is published', {}, 'Keep'],
    ['both, by the former one', { published: published(signedBy([OLD, NEW], BOTH)) }, 'Follow TrustBoth 1'],
    [
      'both, where only the former one signed',
      { published: published(signedBy([OLD], BOTH)) },
      'Follow TrustBoth 1',
    ],
    [
      'nothing again of what it follows',
      { published: published(signedBy([OLD], BOTH)), followed: followed(), trusted: CA_BOTH },
      'Keep',
    ],
    [
      'the phase in which the new one issues',
      { published: published(signedBy([OLD, NEW], ISSUE_NEW)), followed: followed(), trusted: CA_BOTH },
      'Follow IssueNew 2',
    ],
    [
      'a later phase after a long absence',
      { published: published(signedBy([NEW], ONLY_NEW)), followed: followed(), trusted: CA_BOTH },
      'Follow TrustNew 4',
    ],
    [
      'the return, by the former one',
      { published: published(signedBy([OLD], ONLY_OLD)), followed: followed(ISSUE_NEW), trusted: CA_BOTH },
      'Follow TrustOld 6',
    ],
    [
      'a host that joined with both',
      { published: published(signedBy([OLD, NEW], ISSUE_NEW)), trusted: CA_BOTH },
      'Follow IssueNew 2',
    ],
  ])('HOS-22 follows what a trusted authority has signed: %s', (_, parts, expected) => {
    expect(decide(parts)).toBe(expected);
  });

  it.each<[what: string, published: Readonly<Record<string, unknown>>, expected: unknown]>([
    ['no keys', {}, 'Refuse: expected the keys document and signatures'],
    [
      'no signatures',
      { document: formatDocument(BOTH) },
      'Refuse: expected the keys document and signatures',
    ],
    ['an empty document', { document: '', signatures: '{}' }, MALFORMED],
    ['a document that is not JSON', published(signedBy([OLD], 'yes')), MALFORMED],
    ['a document that is a list', published(signedBy([OLD], '[]')), MALFORMED],
    ['a document that was cut', published(signedBy([OLD], formatDocument(BOTH).slice(0, -1))), MALFORMED],
    ['an unknown phase', other({ phase: 'TrustAll' }), MALFORMED],
    ['an order that is not a number', other({ order: '1' }), MALFORMED],
    ['an order of 0', other({ order: 0 }), MALFORMED],
    ['an order that no number can count on from', other({ order: 2 ** 53 }), MALFORMED],
    ['no cluster', other({ cluster: '' }), MALFORMED],
    ['a rotation of a thousand characters', other({ rotation: 'x'.repeat(1000) }), MALFORMED],
    ['no authority', other({ authorities: [] }), MALFORMED],
    ['five authorities', other({ authorities: Array.from({ length: 5 }, () => OLD.certPem) }), MALFORMED],
    [
      'an authority that is not a text in PEM',
      other({ authorities: ['PEM'] }),
      'Refuse: an authority cannot be read: expected one certificate in PEM',
    ],
    [
      'two certificates in one text',
      other({ authorities: [OLD.certPem + FOREIGN.certPem] }),
      'Refuse: an authority cannot be read: expected one certificate in PEM',
    ],
    [
      'a text before the certificate',
      other({ authorities: [`x\n${OLD.certPem}`] }),
      'Refuse: an authority cannot be read: expected one certificate in PEM',
    ],
    [
      'a certificate that is not an authority',
      other({ authorities: [certificateBy(OLD).certPem] }),
      'Refuse: an authority cannot be read: it is not an authority',
    ],
    [
      'an authority that issues and is not trusted',
      other({ issuer: FOREIGN.sha256 }),
      'Refuse: the authority that issues is not one of the trusted ones',
    ],
    [
      'a document of more than 64 KiB',
      { document: 'x'.repeat(65_537), signatures: '' },
      'Refuse: it has 65537 characters, and at most 65536 are read',
    ],
    [
      'signatures of more than 64 KiB',
      { document: formatDocument(BOTH), signatures: 'x'.repeat(70_000) },
      expect.stringMatching(/^Refuse: it has \d+ characters/),
    ],
    [
      'signatures that are not JSON',
      { document: formatDocument(BOTH), signatures: 'yes' },
      'Refuse: the signatures are not of this format',
    ],
    [
      'signatures that are not texts',
      { document: formatDocument(BOTH), signatures: `{"${OLD.sha256}": 1}` },
      'Refuse: the signatures are not of this format',
    ],
    ['no signature', published(signedBy([], BOTH)), UNSIGNED],
    ['a signature by the new one only', published(signedBy([NEW], BOTH)), UNSIGNED],
    ['a signature by a foreign one', published(signedBy([FOREIGN], BOTH)), UNSIGNED],
    [
      'a foreign signature in the name of the former one',
      published(signedBy([{ ...FOREIGN, sha256: OLD.sha256 }], BOTH)),
      UNSIGNED,
    ],
    [
      'a signature that cannot be one',
      { document: formatDocument(BOTH), signatures: `{"${OLD.sha256}": "AAAA"}` },
      UNSIGNED,
    ],
    [
      'another document with the signature of the right one',
      {
        document: formatDocument(documentOf([OLD, FOREIGN])),
        signatures: signedBy([OLD], BOTH).signatures,
      },
      UNSIGNED,
    ],
    [
      'another order with the signature of the right one',
      { document: formatDocument({ ...BOTH, order: 9 }), signatures: signedBy([OLD], BOTH).signatures },
      UNSIGNED,
    ],
    [
      'a list of foreign ones, signed by them',
      published(signedBy([FOREIGN], documentOf([FOREIGN]))),
      UNKNOWN,
    ],
    [
      'a list without the one that signed it, although it is trusted',
      published(signedBy([OLD, NEW], documentOf([NEW]))),
      UNKNOWN,
    ],
  ])('HOS-22 refuses with a reason: %s', (_, data, expected) => {
    expect(decide({ published: data })).toEqual(expected);
  });

  it.each<[what: string, document: typeof BOTH, before: typeof BOTH, expected: string]>([
    ['an earlier document', BOTH, ISSUE_NEW, 'Refuse: it is older: its order is 1, and this host follows 2'],
    [
      'the new one again after the return',
      ISSUE_NEW,
      { ...BOTH, order: 3 },
      'Refuse: it is older: its order is 2, and this host follows 3',
    ],
    [
      'another document of the same order',
      { ...BOTH, phase: 'IssueNew' },
      BOTH,
      'Refuse: it is another document of the same order 1',
    ],
    [
      'a jump after which no document could follow',
      { ...ISSUE_NEW, order: 2 ** 53 - 1 },
      BOTH,
      `Refuse: its order is more than 10000 ahead: it is ${2 ** 53 - 1}, and this host follows 1`,
    ],
    [
      'a jump by more than ten thousand',
      { ...ISSUE_NEW, order: 10_002 },
      BOTH,
      'Refuse: its order is more than 10000 ahead: it is 10002, and this host follows 1',
    ],
    ['nothing of a jump by ten thousand', { ...ISSUE_NEW, order: 10_001 }, BOTH, 'Follow IssueNew 10001'],
    [
      'the document of another cluster',
      { ...ISSUE_NEW, cluster: 'uid-2' },
      BOTH,
      'Refuse: it is of Cluster uid-2, and this host belongs to uid-1',
    ],
  ])('HOS-22 refuses a document that both authorities have signed: %s', (_, document, before, expected) => {
    const signed = published(signedBy([OLD, NEW], document));
    expect(decide({ published: signed, followed: followed(before), trusted: CA_BOTH })).toBe(expected);
  });

  it('HOS-22 repeats no text of a document that no trusted authority has signed', () => {
    const signed = published(signedBy([FOREIGN], { ...ISSUE_NEW, cluster: 'text of a forger' }));
    expect(decide({ published: signed, followed: followed(), trusted: CA_BOTH })).toBe(UNSIGNED);
    const certificate = '-----BEGIN CERTIFICATE-----\nc3RyYW5nZXI=\n-----END CERTIFICATE-----\n';
    expect(decide({ published: other({ authorities: [certificate] }) })).toBe(
      'Refuse: an authority cannot be read: it is not a certificate',
    );
  });

  it.each([BOTH, ISSUE_NEW])(
    'HOS-22 takes no document of an earlier phase on a host without a record that trusts only the new one',
    (document) => {
      const signed = published(signedBy([OLD], document));
      expect(decide({ published: signed, trusted: NEW.certPem })).toBe(UNSIGNED);
    },
  );

  it('HOS-22 needs a signature by an authority that stays, also of one that it trusts', () => {
    const signed = published(signedBy([OLD], ONLY_NEW));
    expect(decide({ published: signed, followed: followed(), trusted: CA_BOTH })).toBe(UNSIGNED);
  });
});
