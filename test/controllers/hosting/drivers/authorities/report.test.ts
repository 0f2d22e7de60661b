import { describe, expect, it } from 'vitest';
import { newRotation, nextPhase } from '../../../../../src/controllers/hosting/drivers/authorities/record.ts';
import {
  isProvable,
  reportRotationState,
} from '../../../../../src/controllers/hosting/drivers/authorities/report.ts';
import type { SignedRecord } from '../../../../../src/controllers/hosting/drivers/authorities/signed.ts';

const entered = newRotation('2030');
const applied = { ...entered, isApplied: true };
const completed = { ...nextPhase(applied, 'Completed'), isApplied: true };

function signedFor(parts: Partial<SignedRecord> = {}): SignedRecord {
  const { id: rotation, sequence } = applied;
  const subject = { rotation, phase: 'TrustBoth', sequence } as const;
  const signedAt = '2030-01-01T00:00:00.000Z';
  return { format: 1, order: 1, ...subject, signedAt, document: '{}', signatures: '{}', ...parts };
}

describe('the report of a rotation', () => {
  it('HOS-22 has the members that are behind, until the rotation is completed', () => {
    const parts = { behind: ['etcd'], signed: undefined } as const;
    expect(reportRotationState(applied, parts).behind).toEqual(['etcd']);
    expect(reportRotationState(completed, parts).behind).toEqual([]);
  });

  it.each([
    ['the one of this phase', signedFor(), true],
    ['one of another rotation', signedFor({ rotation: '2029' }), false],
    ['one of another phase', signedFor({ phase: 'IssueNew' }), false],
    ['one of the same phase, which the rotation was in before', signedFor({ sequence: 0 }), false],
    ['one that is not made', undefined, false],
  ])('HOS-22 counts only the document of this phase as signed: %s', (_, signed, isSigned) => {
    const report = reportRotationState(applied, { behind: [], signed });
    expect(report.isSigned).toBe(isSigned);
    expect(report.signedAt?.toISOString()).toBe(isSigned ? '2030-01-01T00:00:00.000Z' : undefined);
  });

  it.each([
    ['whose files are written', applied, true],
    ['whose files are not written', entered, false],
    ['whose kept keys are removed', { ...applied, isEnding: true }, false],
    ['that is completed', completed, false],
  ])('HOS-22 lets members be asked only where they can answer, in a phase %s', (_, state, isAsked) => {
    expect(isProvable(state)).toBe(isAsked);
  });
});
