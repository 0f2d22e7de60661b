import { describe, expect, it } from 'vitest';
import { createPendingPlans } from '../../../src/sync/pulls/pending.ts';

const pull = (number: number, head: string) => ({ number, head, isFork: false });

describe('S22 a plan that is not at the git host yet', () => {
  it('is made once for each head and base', async () => {
    const pending = createPendingPlans<string>();
    let made = 0;
    const get = (of: ReturnType<typeof pull>, base: string) =>
      pending.get(of, base, async () => `${(made += 1)}`);
    expect(await get(pull(1, 'h1'), 'b1')).toBe('1');
    expect(await get(pull(1, 'h1'), 'b1')).toBe('1');
    expect(await get(pull(1, 'h2'), 'b1')).toBe('2');
    expect(await get(pull(1, 'h2'), 'b2')).toBe('3');
    expect(await get(pull(2, 'h2'), 'b2')).toBe('4');
    pending.forget();
    expect(await get(pull(2, 'h2'), 'b2')).toBe('5');
  });

  it('belongs to a pull request that is open with that head', async () => {
    const pending = createPendingPlans<string>();
    expect(pending.pull([pull(1, 'h1')])).toBeUndefined();
    await pending.get(pull(1, 'h1'), 'b1', async () => 'plan');
    expect(pending.pull([pull(2, 'h1'), pull(1, 'h1')])).toEqual(pull(1, 'h1'));
    expect(pending.pull([pull(1, 'h2')])).toBeUndefined();
    await expect(
      pending.get(pull(3, 'h3'), 'b1', () => Promise.reject(new Error('no render'))),
    ).rejects.toThrow('no render');
    expect(pending.pull([pull(1, 'h1'), pull(3, 'h3')])).toBeUndefined();
  });
});
