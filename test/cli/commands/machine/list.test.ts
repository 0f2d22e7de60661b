import { describe, expect, it } from 'vitest';
import { parsePhase } from '../../../../src/cli/commands/machine/list.ts';

describe('machine list --phase', () => {
  it.each([
    ['Ready', 'Ready'],
    ['notready', 'NotReady'],
    ['PENDING', 'Pending'],
  ])('takes a phase in any case: %s', (text, expected) => {
    expect(parsePhase(text)).toBe(expected);
  });

  it('refuses another word, and lists the phases: no machine would be in it', () => {
    expect(() => parsePhase('Bogus')).toThrow(/Use one of Deleting, .*, Pending\.$/);
  });
});
