import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { rules } from '../../rules/index.ts';
import { validate } from '../../src/api/validation/validate.ts';
import { problemsOf } from '../../src/rules/rule-tests.ts';
import { GONE, remedier } from './sample-rule.ts';

async function said(changes: Readonly<Record<string, unknown>>): Promise<string[]> {
  return (await problemsOf(remedier(changes))).map(({ path, message }) => `${path}: ${message}`);
}

function fiveEvents(oldest: number): object[] {
  return [1, 2, 3, 4, oldest].map((ageSeconds) => ({ reason: 'TaskHung', ageSeconds }));
}

describe('the tests of a rule', () => {
  it('say nothing when the rule says what they expect', async () => {
    expect(await said({})).toEqual([]);
  });

  it.each<readonly [string, Readonly<Record<string, unknown>>, string]>([
    [
      'a comparison that was turned round',
      { '/rule/gate/all/0/operator': 'lessThan' },
      'spec.tests[0]: the test "hung" fails: expected Match, got Held, because the gate: node uptimeSeconds is 86400, not below 900',
    ],
    [
      'a node that is well',
      { '/tests/0/given/condition/FrequentTaskHung/status': 'False' },
      'spec.tests[0]: the test "hung" fails: expected Match, got NoMatch, because condition FrequentTaskHung status is "False", not "True"',
    ],
    [
      'a bound that was moved',
      { '/rule/gate/all/1/value': 3 },
      'spec.tests[2]: the test "restarted twice" fails: expected Held, got Match, because condition FrequentTaskHung status is "True"; condition Ready status is "False"',
    ],
    [
      'a fact that nobody gave',
      { '/tests/0/given/history': GONE },
      'spec.tests[0]: the test "hung" fails: expected Match, got Indeterminate, because the gate: history Reboot 86400 count is unknown',
    ],
    [
      'an answer where silence was expected',
      { '/tests/3/given/condition/FrequentTaskHung': { status: 'False' } },
      'spec.tests[3]: the test "detector silent" fails: expected Indeterminate, got NoMatch, because condition FrequentTaskHung status is "False", not "True"',
    ],
  ])('say what they expected, what they got and why: %s', async (_, changes, problem) => {
    expect(await said(changes)).toEqual([problem]);
  });

  it('are not run for a rule that does not compile: it says why', async () => {
    expect(await said({ '/rule/conditions/all/0/operator': 'notEqual' })).toEqual([
      expect.stringMatching(/^spec\.rule\.conditions\.all\[0\]\.operator: there is no operator "notEqual"/),
    ]);
  });

  it('leave room for others between them: a timer of a Lease is not held up by a rule', async () => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    await said({});
    clearImmediate(timer);
    expect(turns).toBeGreaterThanOrEqual(4);
  });

  it('count Events as a node does: one that is too old is none', async () => {
    const given = {
      condition: { FrequentTaskHung: { status: 'True' }, Ready: { status: 'True' } },
      node: { uptimeSeconds: 9000 },
      history: [],
    };
    const test = (name: string, expected: string, age: number): object => ({
      name,
      expect: expected,
      given: { ...given, event: fiveEvents(age) },
    });
    expect(
      await said({ '/tests/4': test('five', 'Match', 600), '/tests/5': test('four', 'NoMatch', 601) }),
    ).toEqual([]);
  });
});

describe('the rules that we ship', () => {
  it.each(Object.entries(rules))('%s compiles, and does what its tests say', async (_, spec) => {
    expect(await problemsOf(spec)).toEqual([]);
  });

  it.each(Object.entries(rules))('%s is one that the API server takes', (name, spec) => {
    const object = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'NodeRemedier', metadata: { name }, spec };
    expect(validate(object)).toEqual([]);
  });

  it('are all of the folder', () => {
    const files = readdirSync(new URL('../../rules', import.meta.url)).map((file) =>
      file.replace(/\.ts$/, ''),
    );
    const policies = ['fleet-default'];
    expect(files.filter((name) => name !== 'index' && !policies.includes(name)).toSorted()).toEqual(
      Object.keys(rules).toSorted(),
    );
  });
});
