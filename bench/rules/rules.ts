/** Rules of 3 to 4 comparisons over every kind of fact, and the same rules without an engine. */
import { compileRule } from '../../src/rules/compile.ts';
import {
  type CompiledRule,
  type ConditionTree,
  type FactReader,
  listFactRefs,
  type Truth,
} from '../../src/rules/compiled-rule.ts';
import { COMPARISONS } from '../../src/rules/operators.ts';
import { createRemedierSpec } from '../../test/rules/sample-rule.ts';

export const CONDITION_TYPES = [
  'Ready',
  'MemoryPressure',
  'DiskPressure',
  'PIDPressure',
  'FrequentTaskHung',
  'ReadonlyFilesystem',
  'FrequentKubeletRestart',
  'KernelDeadlock',
];

export function compiledRules(count: number): ReadonlyMap<string, CompiledRule> {
  return new Map(Array.from({ length: count }, (_, index) => [`rule-${index}`, compiled(index)]));
}

function compiled(index: number): CompiledRule {
  const type = CONDITION_TYPES[index % CONDITION_TYPES.length] ?? '';
  const conditions = {
    all: [
      { fact: 'condition', params: { type }, path: '$.status', operator: 'equal', value: 'True' },
      {
        fact: 'condition',
        params: { type },
        path: '$.observedSeconds',
        operator: 'greaterThanInclusive',
        value: 60 + index,
      },
      { any: [second(index), second(index + 1)] },
    ],
  };
  const { rule, problems } = compileRule(createRemedierSpec({ '/rule/conditions': conditions }));
  if (!rule) throw new Error(problems.map(({ path, message }) => `${path} ${message}`).join('; '));
  return rule;
}

function second(index: number): object {
  const all = [
    { fact: 'event', params: { reason: 'TaskHung', windowSeconds: 600 }, path: '$.count', value: 5 },
    { fact: 'disk', params: { filesystem: 'imagefs' }, path: '$.usedPercent', value: 80 },
    { fact: 'component', params: { name: 'kubelet' }, path: '$.failedSeconds', value: 120 },
    { fact: 'history', params: { action: 'Reboot', windowSeconds: 3600 }, path: '$.count', value: 1 },
    { fact: 'node', path: '$.uptimeSeconds', value: 900 },
  ];
  return { ...all[index % all.length], operator: 'greaterThanInclusive' };
}

/** The baseline: reads each fact once and evaluates the tree without an engine and without promises. */
export function evaluateDirectly(rule: CompiledRule, facts: FactReader): Truth {
  const trees = rule.gate ? [rule.conditions, rule.gate] : [rule.conditions];
  const known = new Map(listFactRefs(trees).map((ref) => [ref.key, facts(ref)]));
  return truthOf(rule.conditions, ({ key }) => known.get(key) ?? {});
}

function truthOf(tree: ConditionTree, facts: FactReader): Truth {
  if ('ref' in tree) {
    const holds = COMPARISONS[tree.operator](facts(tree.ref)[tree.field], tree.value);
    return TRUTHS.get(holds) ?? 'Unknown';
  }
  const truths = ('all' in tree ? tree.all : tree.any).map((part) => truthOf(part, facts));
  const [decisive, otherwise] = 'all' in tree ? (['False', 'True'] as const) : (['True', 'False'] as const);
  return [decisive, 'Unknown' as const].find((truth) => truths.includes(truth)) ?? otherwise;
}

const TRUTHS: ReadonlyMap<boolean | undefined, Truth> = new Map([
  [true, 'True'],
  [false, 'False'],
]);
