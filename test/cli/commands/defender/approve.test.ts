import { describe, expect, it } from 'vitest';
import { actToAnswer, parseHolder } from '../../../../src/cli/commands/defender/approve.ts';
import { parseReason } from '../../../../src/cli/commands/defender/reason.ts';

describe('defender approve', () => {
  it('tells how to name an act that does not wait', () => {
    expect(() => actToAnswer([], { machine: 'm-1' })).toThrow(
      expect.objectContaining({
        message: 'no act on machine m-1 waits for an approval',
        hint: expect.stringContaining('--action ACTION --holder KIND/NAME') as string,
      }),
    );
  });

  it('reads a holder and a reason, and refuses what the ledger could not keep', () => {
    expect(parseHolder('Other/system:serviceaccount:a:b')).toEqual({
      kind: 'Other',
      name: 'system:serviceaccount:a:b',
    });
    for (const text of ['alice', 'Other/', 'Person/alice']) expect(() => parseHolder(text)).toThrow('KIND');
    expect(parseReason(' checked ')).toBe('checked');
    for (const text of ['', '  ', 'x'.repeat(257)]) expect(() => parseReason(text)).toThrow('1 to 256');
  });
});
