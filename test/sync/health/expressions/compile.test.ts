import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { compileExpression, type Expression } from '../../../../src/sync/health/expressions/compile.ts';
import { sizeOf } from '../../../../src/sync/health/expressions/cost.ts';

const ROLLOUT: KubeObject = {
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Rollout',
  metadata: { name: 'web', generation: 2 },
  spec: { replicas: 3 },
  status: {
    phase: 'Healthy',
    replicas: 3,
    ratio: 0.5,
    nodes: [{ conditions: [{ type: 'Ready', status: 'True' }] }],
    conditions: [
      { type: 'Available', status: 'True' },
      { type: 'Paused', status: 'False' },
    ],
    labels: { a: 'x' },
  },
};

function compiled(text: string): Expression {
  const result = compileExpression(text);
  if ('position' in result) throw new Error(`${text}: ${result.message}`);
  return result;
}

describe('compileExpression', () => {
  it.each<[text: string, expected: boolean | string]>([
    ["self.status.phase == 'Healthy'", true],
    ['self.status.replicas >= self.spec.replicas && self.status.replicas == 3', true],
    ['self.status.ratio < 0.6', true],
    ["self.status.conditions.exists(c, c.type == 'Available' && c.status == 'True')", true],
    ["self.status.nodes.all(n, n.conditions.exists(c, c.type == 'Ready' && c.status == 'True'))", true],
    ["self.status.conditions.filter(c, c.status == 'False').size() == 1", true],
    ["self.status.conditions.exists_one(c, c.type.startsWith('Pa'))", true],
    ["self.status.phase in ['Healthy', 'Completed']", true],
    ["has(self.status.stable) ? self.status.stable : !self.status.phase.contains('x')", true],
    ["self.metadata.name.endsWith('b') && -1 < 0", true],
    ["self.status.labels['a'] == 'y'", false],
    ["self.status.missing == 'x'", 'No such key: missing'],
    ["self.status.missing == 'x' || true", true],
    ['self.status.phase', 'its result is not true or false'],
    ["self.constructor == 'x'", 'No such key: constructor'],
    ['self.status.conditions[9].status == "x"', expect.stringContaining('index') as string],
  ])('S14 evaluates an expression about health: %s', (text, expected) => {
    const answer = compiled(text).evaluate(ROLLOUT);
    expect(typeof answer === 'boolean' ? answer : answer.because).toEqual(expected);
  });

  it.each<[what: string, text: string, position: number, message: RegExp]>([
    ['an empty expression', ' ', 1, /Expected|Unexpected/],
    ['a missing name', 'self.status.', 12, /Expected IDENTIFIER/],
    ['an unknown variable', 'true && object.spec == 1', 8, /Unknown variable: object/],
    ['a comparison of two types', "'a' == 1", 0, /no such overload/],
    [
      'a result of another type',
      'size(self.status.conditions)',
      0,
      /expected a result that is true or false, got int/,
    ],
    ['arithmetic', 'self.a == 1 + 1', 10, /^\+ is not supported: use comparisons/],
    ['a regular expression', "self.a.matches('^(a+)+$')", 0, /^matches\(\) is not supported/],
    ['a list that grows', 'self.l.map(x, [x, x]).size() == 1', 0, /^map\(\) is not supported/],
    ['a name for a value', 'cel.bind(x, self.s, x == x)', 0, /^bind\(\) is not supported/],
    [
      'another function',
      "timestamp(self.a) == timestamp('2030-01-01T00:00:00Z')",
      0,
      /^timestamp\(\) is not supported/,
    ],
    ['a map', "{'a': 1} == self.a", 0, /^map is not supported/],
    ['three loops in one another', 'self.a.all(x, x.all(y, y.all(z, z == 1)))', 23, /^more than 2 loops/],
    ['a long list', `self.a in [${'1, '.repeat(40)}1]`, expect.any(Number) as number, /list|elements/i],
    ['deep brackets', `${'('.repeat(90)}true${')'.repeat(90)}`, expect.any(Number) as number, /depth/i],
  ])('S14 refuses %s, with its position', (_, text, position, message) => {
    const result = compileExpression(text);
    expect(result).toMatchObject({ position, message: expect.stringMatching(message) as string });
  });

  it.each([
    ['two loops over a long list', 'self.l.exists(a, self.l.exists(b, a == b))', 1000],
    [
      'comparisons of a large part',
      'self.l.all(a, self.l == self.l && self.l != self.l && self.l == self.l)',
      5000,
    ],
    ['a search for a constant in a long list', "self.l.exists(a, self.l.exists(b, 'x' in self.l))", 600],
    ['a search for a field in texts', 'self.l.exists(a, a.contains(self.metadata.name))', 1500],
    ['a loop over a huge list', 'self.l.all(a, self.l.exists(b, true))', 100_000],
  ])('S14 does not evaluate %s of a large object: it is too costly', (_, text, items) => {
    const object = { ...ROLLOUT, l: Array.from({ length: items }, (__, index) => `item-${index}`) };
    const { characters } = sizeOf(object);
    expect(compiled(text).evaluate(object)).toEqual({
      because: `it is too costly for an object of ${characters} characters with a list of ${items} items: nest fewer loops, and compare with constants`,
    });
  });

  it('S14 evaluates one loop over a long list', () => {
    const object = { ...ROLLOUT, l: Array.from({ length: 5000 }, (_, index) => ({ ready: index >= 0 })) };
    expect(compiled('self.l.all(a, a.ready)').evaluate(object)).toBe(true);
  });
});
