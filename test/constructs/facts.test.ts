import { describe, expect, it } from 'vitest';
import {
  all,
  any,
  component,
  condition,
  disk,
  event,
  fleet,
  history,
  type MaintenanceComparisons,
  maintenance,
  metric,
  nodeProperties as node,
  probeByName as probe,
  workload,
  xid,
} from '../../src/constructs/facts.ts';
import type { Expr } from '../../src/constructs/generated/types.ts';
import { compileTree } from '../../src/rules/compile/tree.ts';
import type { Reading, Truth } from '../../src/rules/compiled-rule.ts';
import { createProblemCollector } from '../../src/rules/problems.ts';
import { createTreeEvaluator } from '../../src/rules/tree-evaluator.ts';

const imagefs = { fact: 'disk', params: { filesystem: 'imagefs' } };
const ready = { fact: 'condition', params: { type: 'Ready' } };

/** What the compiler of rules reports of a tree. */
function problemsOf(tree: Expr): readonly string[] {
  const { report, problems } = createProblemCollector();
  compileTree(report, 'tree', tree);
  return problems().map(({ path, message }) => `${path}: ${message}`);
}

const DUE: Reading = { pending: true, type: 'Reboot', state: 'Scheduled', hint: false, secondsUntilAct: 0 };

function treesOf(announced: MaintenanceComparisons): readonly Expr[] {
  return [announced.isDue(), announced.isNotDue(), announced.isHintDue(), announced.isNoHintDue()];
}

async function truthOf(tree: Expr, reading: Reading): Promise<Truth> {
  const { report } = createProblemCollector();
  const compiled = compileTree(report, 'tree', tree);
  return compiled ? await createTreeEvaluator(compiled)(() => reading) : 'Unknown';
}

describe('the helpers of conditions', () => {
  it.each<[string, Expr, Expr]>([
    [
      'a number',
      disk('imagefs').usedPercent.atLeast(80),
      {
        fact: 'disk',
        params: imagefs.params,
        path: '$.usedPercent',
        operator: 'greaterThanInclusive',
        value: 80,
      },
    ],
    [
      'a fact of the whole node',
      node.uptimeSeconds.above(900),
      { fact: 'node', path: '$.uptimeSeconds', operator: 'greaterThan', value: 900 },
    ],
    [
      'a list of codes',
      xid([48, 79], { within: '1h' }).maxPerGPU.atLeast(2),
      {
        fact: 'xid',
        params: { codes: [48, 79], windowSeconds: 3600 },
        path: '$.maxPerGPU',
        operator: 'greaterThanInclusive',
        value: 2,
      },
    ],
    [
      'machines that share a property',
      fleet({ scope: 'driverVersion', faultClass: 'GPU', within: '1h' }).affectedRatio.below(0.05),
      {
        fact: 'fleet',
        params: { scope: 'driverVersion', faultClass: 'GPU', windowSeconds: 3600 },
        path: '$.affectedRatio',
        operator: 'lessThan',
        value: 0.05,
      },
    ],
    [
      'what Prometheus has',
      metric('max_over_time(temperature[10m])').value.above(90),
      {
        fact: 'metric',
        params: { query: 'max_over_time(temperature[10m])' },
        path: '$.value',
        operator: 'greaterThan',
        value: 90,
      },
    ],
    [
      'what runs on the node',
      workload().localData.is(false),
      { fact: 'workload', path: '$.localData', operator: 'equal', value: false },
    ],
    [
      'several values',
      condition('Ready').status.in('False', 'Unknown'),
      {
        fact: 'condition',
        params: ready.params,
        path: '$.status',
        operator: 'in',
        value: ['False', 'Unknown'],
      },
    ],
    [
      'Events of a window',
      event('TaskHung', { within: '10m' }).count.atMost(5),
      {
        fact: 'event',
        params: { reason: 'TaskHung', windowSeconds: 600 },
        path: '$.count',
        operator: 'lessThanInclusive',
        value: 5,
      },
    ],
    [
      'earlier repairs',
      history('CleanDisk', { within: '1h' }).count.below(2),
      {
        fact: 'history',
        params: { action: 'CleanDisk', windowSeconds: 3600 },
        path: '$.count',
        operator: 'lessThan',
        value: 2,
      },
    ],
    [
      'a flag of a component',
      component('containerd').ready.is(false),
      { fact: 'component', params: { name: 'containerd' }, path: '$.ready', operator: 'equal', value: false },
    ],
    [
      'the result of a probe',
      probe('dns').result.is('Fail'),
      { fact: 'probe', params: { name: 'dns' }, path: '$.result', operator: 'equal', value: 'Fail' },
    ],
  ])('render %s as the JSON of the rule language', (_, written, rendered) => {
    expect(written).toEqual(rendered);
    expect(problemsOf(written)).toEqual([]);
  });

  it('render a status with a duration as two comparisons', () => {
    expect(condition('Ready').is('False', { for: '3m' })).toEqual({
      all: [
        { fact: 'condition', params: { type: 'Ready' }, path: '$.status', operator: 'equal', value: 'False' },
        {
          fact: 'condition',
          params: { type: 'Ready' },
          path: '$.observedSeconds',
          operator: 'greaterThanInclusive',
          value: 180,
        },
      ],
    });
    expect(condition('Ready').is('False')).toEqual(condition('Ready').status.is('False'));
  });

  it('combine conditions as all and any', () => {
    const full = disk('/var/log').usedPercent.atLeast(90);
    const tree = all(any(full, probe('dns').result.is('Fail')), node.uptimeSeconds.atLeast(900));
    expect(tree).toEqual({
      all: [{ any: [full, probe('dns').result.is('Fail')] }, node.uptimeSeconds.atLeast(900)],
    });
    expect(problemsOf(tree)).toEqual([]);
  });

  it('R39 render what is due as comparisons that the compiler accepts', () => {
    const announced = maintenance();
    for (const tree of treesOf(announced)) expect(problemsOf(tree)).toEqual([]);
    expect(announced.isDue().all?.[1]).toEqual({
      fact: 'maintenance',
      path: '$.secondsUntilAct',
      operator: 'lessThanInclusive',
      value: 0,
    });
    expect(problemsOf(announced.secondsUntilNotBefore.below(-60))).toEqual([]);
  });

  it.each<readonly [due: 'isDue' | 'isHintDue' | 'nothing', reading: Reading]>([
    ['isDue', DUE],
    ['isDue', { ...DUE, type: 'Preempt', state: 'Executing', secondsUntilAct: -86_400 }],
    ['isHintDue', { ...DUE, hint: true }],
    ['nothing', { ...DUE, secondsUntilAct: 1 }],
    ['nothing', { ...DUE, hint: true, secondsUntilAct: 1 }],
    ['nothing', { ...DUE, state: 'Inquiring' }],
    ['nothing', { ...DUE, type: 'Freeze' }],
    ['nothing', { ...DUE, hint: true, type: 'Degraded' }],
    ['nothing', { pending: false }],
  ])('R39 hold for what is announced or for its opposite, and never both: %s', async (due, reading) => {
    const truths = await Promise.all(treesOf(maintenance()).map((tree) => truthOf(tree, reading)));
    const [isHeld, isHint] = [due === 'isDue', due === 'isHintDue'].map((holds) =>
      holds ? 'True' : 'False',
    );
    const [isNotHeld, isNotHint] = [due === 'isDue', due === 'isHintDue'].map((holds) =>
      holds ? 'False' : 'True',
    );
    expect(truths).toEqual([isHeld, isNotHeld, isHint, isNotHint]);
  });

  it('R39 know nothing of what is announced while it is unknown', async () => {
    const truths = await Promise.all(treesOf(maintenance()).map((tree) => truthOf(tree, {})));
    expect(truths).toEqual(['Unknown', 'Unknown', 'Unknown', 'Unknown']);
  });

  it('refuse a duration that is not a number with a unit', () => {
    const text = '3 minutes' as '3m';
    expect(() => condition('Ready').is('True', { for: text })).toThrow(
      'invalid duration: expected a number with s, m, h or d, at most 366d, got "3 minutes"',
    );
    expect(() => event('TaskHung', { within: '0m' })).toThrow('invalid duration');
  });

  it('R7 refuse in the editor what the compiler refuses: values of the wrong type', () => {
    // @ts-expect-error -- a quoted number
    const quoted = disk('imagefs').usedPercent.atLeast('80');
    // @ts-expect-error -- a status is a string
    const flag = condition('Ready').status.is(true);
    // @ts-expect-error -- a misspelt status
    const status = condition('Ready').is('Fasle');
    // @ts-expect-error -- a misspelt state
    const state = component('kubelet').state.in('Committed', 'Comitted');
    // @ts-expect-error -- a list with one value is an equality
    const list = probe('dns').result.in('Fail');
    expect([quoted, flag, status, state].map((tree) => problemsOf(tree).length)).toEqual([1, 1, 1, 1]);
    expect(list.value).toEqual(['Fail']);
  });

  it('R7 refuse in the editor what the compiler refuses: names that do not exist', () => {
    // @ts-expect-error -- a misspelt field
    expect(disk('imagefs').usedPercentage).toBeUndefined();
    // @ts-expect-error -- a number has no text operator
    expect(node.zone.atLeast).toBeTypeOf('function');
    // @ts-expect-error -- a misspelt filesystem
    expect(problemsOf(disk('imagfs').usedPercent.atLeast(80))).toHaveLength(1);
    // @ts-expect-error -- a misspelt step
    expect(problemsOf(history('CleanDisc', { within: '1h' }).count.below(2))).toHaveLength(1);
    // @ts-expect-error -- a misspelt type
    expect(problemsOf(maintenance().type.is('Rebot'))).toHaveLength(1);
    // @ts-expect-error -- a misspelt field
    expect(maintenance().secondsUntilAction).toBeUndefined();
    // @ts-expect-error -- an empty list would always hold
    expect(problemsOf(all())).toEqual(['tree.all: must not be empty: an empty list would always match']);
  });
});
