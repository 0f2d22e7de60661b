import { describe, expect, it } from 'vitest';
import { withHint } from '../../../../src/controllers/hosting/plan/wait.ts';

describe('the message of a wait of hosting', () => {
  it('has the hint after what is waited for', () => {
    expect(withHint('Freeze: sale', 'end the freeze in git')).toBe('Freeze: sale; end the freeze in git');
  });

  it('keeps the hint when the message is longer than the status has room for', () => {
    const text = withHint('x'.repeat(400), 'end the freeze in git');
    expect([text.length, text.slice(-24)]).toEqual([256, '…; end the freeze in git']);
  });

  it('keeps the begin of the message beside a hint with a long path', () => {
    expect(withHint('x'.repeat(400), 'y'.repeat(250)).slice(0, 82)).toBe(`${'x'.repeat(79)}…; `);
  });
});
