/** The rules of the example fleet, which `kubenode init` writes. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rules } from '../../rules/index.ts';
import { checkRule } from '../../src/rules/rule-tests.ts';

const ROOT = join(import.meta.dirname, '../..');
const all = Object.entries(rules).map(([name, spec]) => ({ name, spec }));

describe('a shipped rule', () => {
  it.each(all)('R9 $name compiles, and passes its own tests', async ({ spec }) => {
    expect(await checkRule(spec)).toEqual([]);
  });

  it.each(all)('R9 $name has a gate, and tests of every outcome', ({ spec }) => {
    expect(new Set(spec.tests.map(({ expect: outcome }) => outcome))).toEqual(
      new Set(['Match', 'NoMatch', 'Held', 'Indeterminate']),
    );
  });

  it.each(all)('$name has a runbook', ({ spec }) => {
    expect(existsSync(join(ROOT, spec.owner.runbook ?? 'missing'))).toBe(true);
  });

  it.each(all)('R35 $name undoes the cordon of a rung that drains', ({ spec }) => {
    const draining = spec.ladder.filter(({ plan }) => plan.some(({ step }) => step === 'Drain'));
    expect(draining.flatMap(({ onVerified }) => onVerified ?? [])).toEqual(
      draining.map(() => ({ step: 'Uncordon' })),
    );
  });
});

/** Pages about kubenode itself. */
const OF_NO_RULE = new Set([
  'denials.md',
  'kubenode-down.md',
  'machine-stuck.md',
  'rollout-stopped.md',
  'stop-everything.md',
]);

describe('the folder docs/runbooks', () => {
  it('has no page of a rule that does not exist', () => {
    const used = all.map(({ spec }) => spec.owner.runbook);
    const pages = readdirSync(join(ROOT, 'docs/runbooks')).filter((file) => !OF_NO_RULE.has(file));
    expect(pages.filter((file) => !used.includes(`docs/runbooks/${file}`))).toEqual([]);
  });
});
