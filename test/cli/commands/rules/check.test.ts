import { describe, expect, it } from 'vitest';
import { diskPressure } from '../../../../rules/disk-pressure.ts';
import { checkFoundRule } from '../../../../src/cli/commands/rules/check.ts';

const SOURCES = [{ file: 'rules/disk-pressure.ts', text: "\n{ name: 'half full' }\n" }];

function check(spec: object, withTests = true): ReturnType<typeof checkFoundRule> {
  const name = 'disk-pressure';
  const object = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'NodeRemedier', metadata: { name }, spec };
  const found = { name, object, targets: ['test'], declaredAt: 'fleet/main.ts:28' };
  return checkFoundRule(found, { withTests, sources: () => SOURCES });
}

const wrong = diskPressure.tests.map((test) =>
  test.name === 'half full' ? { ...test, expect: 'Match' } : test,
);

describe('checkFoundRule', () => {
  it('R9 counts the tests that it ran when all of them pass', async () => {
    expect(await check(diskPressure)).toEqual({
      rule: 'disk-pressure',
      targets: ['test'],
      tests: diskPressure.tests.length,
      findings: [],
    });
  });

  it('R9 reports a failing test with its own file and line, and the facts that decided', async () => {
    const { findings } = await check({ ...diskPressure, tests: wrong });
    expect(findings).toEqual([
      {
        where: 'rules/disk-pressure.ts:2',
        rule: 'disk-pressure',
        field: 'spec.tests[4]',
        message: expect.stringMatching(
          /^test "half full" failed: expected Match, got NoMatch, because .*imagefs usedPercent is 50, not at least 80/,
        ) as string,
      },
    ]);
  });

  it('runs no tests where only the compiler was asked for', async () => {
    expect(await check({ ...diskPressure, tests: wrong }, false)).toMatchObject({ tests: 0, findings: [] });
  });

  it('R7 reports a rule that does not compile where it is declared, and runs none of its tests', async () => {
    const { tests, findings } = await check({ ...diskPressure, rule: { conditions: { all: [] } } });
    expect(tests).toBe(0);
    expect(findings[0]).toMatchObject({ where: 'fleet/main.ts:28', field: 'spec.rule.conditions.all' });
  });
});
