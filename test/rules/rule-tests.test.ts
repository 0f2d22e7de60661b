import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { rules } from '../../rules/index.ts';
import { validate } from '../../src/api/validation/validate.ts';
import { checkRule } from '../../src/rules/rule-tests.ts';
import { createRemedierSpec, REMOVED } from './sample-rule.ts';

async function messages(changes: Readonly<Record<string, unknown>>): Promise<string[]> {
  return (await checkRule(createRemedierSpec(changes))).map(({ path, message }) => `${path}: ${message}`);
}

function fiveEvents(oldest: number): object[] {
  return [1, 2, 3, 4, oldest].map((ageSeconds) => ({ reason: 'TaskHung', ageSeconds }));
}

describe('the tests of a rule', () => {
  it('report nothing if they pass', async () => {
    expect(await messages({})).toEqual([]);
  });

  it.each<readonly [string, Readonly<Record<string, unknown>>, string]>([
    [
      'an inverted comparison',
      { '/rule/gate/all/0/operator': 'lessThan' },
      'spec.tests[0]: test "hung" failed: expected Match, got Held, because gate: node uptimeSeconds is 86400, not below 900',
    ],
    [
      'a healthy node',
      { '/tests/0/given/condition/FrequentTaskHung/status': 'False' },
      'spec.tests[0]: test "hung" failed: expected Match, got NoMatch, because condition FrequentTaskHung status is "False", not "True"',
    ],
    [
      'a changed bound',
      { '/rule/gate/all/1/value': 3 },
      'spec.tests[2]: test "restarted twice" failed: expected Held, got Match, because condition FrequentTaskHung status is "True"; condition Ready status is "False"',
    ],
    [
      'a missing fact',
      { '/tests/0/given/history': REMOVED },
      'spec.tests[0]: test "hung" failed: expected Match, got Indeterminate, because gate: history Reboot 86400 count is unknown',
    ],
    [
      'another outcome than Indeterminate',
      { '/tests/3/given/condition/FrequentTaskHung': { status: 'False' } },
      'spec.tests[3]: test "detector silent" failed: expected Indeterminate, got NoMatch, because condition FrequentTaskHung status is "False", not "True"',
    ],
  ])('report expected and actual outcome with the reason: %s', async (_, changes, problem) => {
    expect(await messages(changes)).toEqual([problem]);
  });

  it('are not run for a rule that does not compile', async () => {
    expect(await messages({ '/rule/conditions/all/0/operator': 'notEqual' })).toEqual([
      expect.stringMatching(/^spec\.rule\.conditions\.all\[0\]\.operator: unknown operator "notEqual"/),
    ]);
  });

  it('let timers run between them', async () => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    await messages({});
    clearImmediate(timer);
    expect(turns).toBeGreaterThanOrEqual(4);
  });

  it('ignore Events outside of the window', async () => {
    const facts = {
      condition: { FrequentTaskHung: { status: 'True' }, Ready: { status: 'True' } },
      node: { uptimeSeconds: 9000 },
      history: [],
    };
    const test = (name: string, expected: string, age: number): object => ({
      name,
      expect: expected,
      given: { ...facts, event: fiveEvents(age) },
    });
    expect(
      await messages({ '/tests/4': test('five', 'Match', 600), '/tests/5': test('four', 'NoMatch', 601) }),
    ).toEqual([]);
  });
});

describe('the shipped rules', () => {
  it.each(Object.entries(rules))('%s compiles and passes its tests', async (_, spec) => {
    expect(await checkRule(spec)).toEqual([]);
  });

  it.each(Object.entries(rules))('%s is valid against its schema', (name, spec) => {
    const object = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'NodeRemedier', metadata: { name }, spec };
    expect(validate(object)).toEqual([]);
  });

  it('are in all files of the folder, each under the name of its file or an extension of it', () => {
    const files = readdirSync(new URL('../../rules', import.meta.url))
      .filter((file) => file.endsWith('.ts'))
      .map((file) => file.replace(/\.ts$/, ''))
      .filter((name) => name !== 'index' && name !== 'fleet-default');
    const used = Object.keys(rules).map((rule) =>
      files.find((file) => rule === file || rule.startsWith(`${file}-`)),
    );
    expect(new Set(used)).toEqual(new Set(files));
  });
});
