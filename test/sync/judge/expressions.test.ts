import { describe, expect, it } from 'vitest';
import { expressionProblems } from '../../../src/sync/judge/expressions.ts';

function problems(...healthExpressions: readonly object[]): string[] {
  const spec = { healthExpressions };
  const pipeline = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name: 'fleet' },
    spec,
  };
  return expressionProblems(pipeline).map(({ path, message }) => `${path}: ${message}`);
}

describe('expressionProblems', () => {
  it('S14 accepts expressions that can be compiled, and leaves malformed entries to the schema', () => {
    expect(
      problems({ healthy: "self.status.phase == 'Ready'", failed: 'false' }, {}, { healthy: 3 }),
    ).toEqual([]);
  });

  it('S14 refuses each expression that cannot be compiled, with its path and position', () => {
    expect(problems({ healthy: 'true' }, { healthy: 'self.a == ', failed: 'x' })).toEqual([
      expect.stringMatching(/^spec\.healthExpressions\[1\]\.healthy: at character 11: .*EOF/),
      'spec.healthExpressions[1].failed: at character 1: Unknown variable: x',
    ]);
  });
});
