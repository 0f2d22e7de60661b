/** Decides what is signed, and when. What an agent does with all of it is in test/controllers/hosting/drivers/process/rotation/signed.test.ts. */
import { describe, expect, it } from 'vitest';
import { parseSigned } from '../../../../../src/api/authorities/document.ts';
import {
  newRotation,
  nextPhase,
  type RotationState,
} from '../../../../../src/controllers/hosting/drivers/authorities/record.ts';
import {
  isObservedPhase,
  type SignedRecord,
  type SigningSubject,
  signingSubject,
  signSubject,
} from '../../../../../src/controllers/hosting/drivers/authorities/signed.ts';
import type { KnownOrders } from '../../../../../src/controllers/hosting/drivers/rotation.ts';
import { testAuthority } from '../../../../support/authorities.ts';

const NOW = new Date('2030-01-01T00:00:00Z');
const NOTHING_KNOWN = { reported: [] };
const old = testAuthority('old');
const authorities = { old, new: testAuthority('new') };
const trustBoth = { ...newRotation('2030'), isApplied: true };
const completed = { ...nextPhase(trustBoth, 'Completed'), isApplied: true };
const subject: SigningSubject = { rotation: '2030', phase: 'TrustBoth', sequence: 1, isOver: false };

function sign(
  of: SigningSubject,
  parts: Partial<Parameters<typeof signSubject>[1]> = {},
): ReturnType<typeof signSubject> {
  return signSubject(of, {
    cluster: 'uid-1',
    where: 'namespace kn-ci',
    authorities,
    last: undefined,
    known: NOTHING_KNOWN,
    now: NOW,
    ...parts,
  });
}

const first = sign(subject);

function inPhase(phase: SignedRecord['phase']): SignedRecord {
  return sign({ ...subject, phase });
}

function documentIn(record: SignedRecord): unknown {
  const found = parseSigned({ ...record });
  return 'document' in found ? found.document : found;
}

describe('what hosting signs for agents', () => {
  it.each<[string, RotationState | undefined, SignedRecord | undefined, SigningSubject | undefined]>([
    ['nothing before the first rotation', undefined, undefined, undefined],
    ['nothing for a phase whose files are not written', newRotation('2030'), undefined, undefined],
    ['the phase of the rotation', trustBoth, undefined, subject],
    [
      'the end of a rotation, with one authority',
      completed,
      first,
      { ...subject, phase: 'TrustNew', sequence: completed.sequence, isOver: true },
    ],
    ['nothing for a completed rotation of which nothing was signed', completed, undefined, undefined],
    [
      'the return of a rotation whose record is removed',
      undefined,
      inPhase('IssueNew'),
      { ...subject, phase: 'TrustOld', sequence: 2, isOver: true },
    ],
    [
      'the last phase again, once its rotation is over',
      undefined,
      inPhase('TrustNew'),
      { ...subject, phase: 'TrustNew', isOver: true },
    ],
  ])('HOS-22 follows from the record: %s', (_, rotation, last, expected) => {
    expect(signingSubject(rotation, last)).toEqual(expected);
  });
});

describe('a phase that was observed', () => {
  it.each<[string, RotationState | undefined, KnownOrders['observed'], boolean]>([
    ['is the one that is recorded', trustBoth, { rotation: trustBoth }, true],
    ['is any where none was observed', trustBoth, undefined, true],
    [
      'is that of a driver that does not count phases',
      trustBoth,
      { rotation: { id: '2030', phase: 'TrustBoth' } },
      true,
    ],
    ['is over', nextPhase(trustBoth, 'IssueNew'), { rotation: trustBoth }, false],
    ['was left, and is back', { ...trustBoth, sequence: 3 }, { rotation: trustBoth }, false],
    ['is that of another rotation', { ...trustBoth, id: '2031' }, { rotation: trustBoth }, false],
    ['has ended with its rotation', undefined, { rotation: trustBoth }, false],
    ['was none before a rotation began', trustBoth, { rotation: undefined }, false],
    ['is none, without a rotation', undefined, { rotation: undefined }, true],
  ])('HOS-22 is signed only for the phase that was observed: it %s', (_, rotation, observed, expected) => {
    expect(isObservedPhase(rotation, observed)).toBe(expected);
  });
});

describe('a signed document', () => {
  it('HOS-22 names the cluster, the phase and the authority that issues, and has the first order', () => {
    expect(documentIn(first)).toEqual({
      cluster: 'uid-1',
      order: 1,
      rotation: '2030',
      phase: 'TrustBoth',
      issuer: old.sha256,
      authorities: [old.certPem, authorities.new.certPem],
    });
    expect(Object.keys(JSON.parse(first.signatures) as object)).toEqual([old.sha256]);
  });

  it('HOS-22 is signed by the new authority alone when only that one is trusted', () => {
    const signatures = JSON.parse(inPhase('TrustNew').signatures) as object;
    expect(Object.keys(signatures)).toEqual([authorities.new.sha256]);
  });

  it('HOS-22 stays the same in its phase, and has a higher order in the next one', () => {
    const later = new Date('2030-01-02T00:00:00Z');
    expect(sign(subject, { last: first, now: later })).toBe(first);
    const next = sign({ ...subject, phase: 'IssueNew', sequence: 2 }, { last: first, now: later });
    expect(next).toMatchObject({ order: 2, phase: 'IssueNew', signedAt: later.toISOString() });
  });

  it('HOS-22 is signed again above an own document that is published with a higher order', () => {
    const published = sign({ ...subject, phase: 'IssueNew' }, { known: { reported: [6] } });
    expect(published.order).toBe(7);
    expect(sign(subject, { last: first, known: { published, reported: [] } }).order).toBe(8);
  });

  it('HOS-22 is signed again where none of our keys signed the last one, whose order counts as a reported one', () => {
    const foreign = testAuthority('foreign');
    const other = sign(subject, { authorities: { old: foreign, new: foreign }, known: { reported: [40] } });
    const again = sign(subject, { last: other });
    expect([again.order, Object.keys(JSON.parse(again.signatures) as object)]).toEqual([42, [old.sha256]]);
    expect(sign(subject, { last: { ...other, order: 900_000 } }).order).toBe(1);
    // The record does not show what is signed.
    const edited = { ...first, phase: 'IssueNew' as const };
    expect(sign({ ...subject, phase: 'IssueNew' }, { last: edited })).toMatchObject({ order: 2 });
  });

  it('HOS-22 needs only the authorities that it has, and the one that signs it', () => {
    const onlyNew = { old: undefined, new: authorities.new };
    const trustNew = sign({ ...subject, phase: 'TrustNew' }, { authorities: onlyNew });
    expect(documentIn(trustNew)).toMatchObject({ authorities: [authorities.new.certPem] });
    expect(() => sign(subject, { authorities: onlyNew })).toThrow('missing or damaged');
    expect(() => sign(subject, { authorities: { old, new: undefined } })).toThrow('missing or damaged');
    expect(sign(subject, { authorities: { old, new: undefined }, last: first })).toBe(first);
  });
});
