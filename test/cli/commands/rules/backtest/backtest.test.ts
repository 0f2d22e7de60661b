import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../../../src/cli/run.ts';
import { testIo } from '../../../../support/test-io.ts';

describe('kubenode rules backtest', () => {
  it.each<[name: string, args: readonly string[], error: string]>([
    ['a recording', ['kernel-hang'], '--from'],
    ['a rule', ['--from', 'facts.jsonl'], "missing required argument 'rule'"],
  ])('ends with 64 without %s', async (_, args, error) => {
    const io = testIo();
    expect(await runCommandLine(io, ['rules', 'backtest', ...args])).toBe(64);
    expect(io.stderr).toContain(error);
  });
});
