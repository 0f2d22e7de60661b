import { expect, it } from 'vitest';
import { evidenceText } from '../../../src/views/repair/evidence.ts';

it('describes a fact of a decision, numbers to thousandths', () => {
  const params = { type: 'FrequentTaskHung' };
  const value = { status: 'True', observedSeconds: 3.001_030_807 };
  expect(evidenceText({ fact: 'condition', params, value })).toBe(
    'condition FrequentTaskHung: status True, observedSeconds 3.001',
  );
  expect(evidenceText({ fact: 'condition', params })).toBe('condition FrequentTaskHung: unknown');
});
