import { describe, expect, it } from 'vitest';
import type { MachineFault } from '../../../src/api/generated/types.ts';
import { faultsOf, recordedSince } from '../../../src/controllers/remedy/faults.ts';
import { compileRule } from '../../../src/rules/compile.ts';
import type { CompiledRule, Reading } from '../../../src/rules/compiled-rule.ts';
import { ago, machine, NOW } from '../../support/builders.ts';
import { remedier } from '../../support/remediers.ts';

function compiled(conditions: object): CompiledRule {
  const { rule } = compileRule(remedier({ '/rule/conditions': conditions }).spec);
  if (!rule) throw new Error('the rule does not compile');
  return rule;
}

function leaf(type: string, value = 'True'): object {
  return { fact: 'condition', params: { type }, path: '$.status', operator: 'equal', value };
}

type Readings = Readonly<Record<string, Reading>>;

function faults(
  readings: Readings,
  recorded: readonly MachineFault[] = [],
  rule = HUNG,
): readonly MachineFault[] {
  return faultsOf({
    machine: machine('m-1', { status: { faults: recorded } }),
    nodeUID: 'node-1',
    rules: [{ compiled: rule, facts: ({ params }) => readings[String(params['type'])] ?? {} }],
    now: NOW,
  });
}

const HUNG = compiled({ all: [leaf('Hung'), { any: [leaf('Ready', 'False'), leaf('Ready', 'Unknown')] }] });
const TRUE = { status: 'True', observedSeconds: 100, reason: 'TaskHung' };
const RECORD: MachineFault = {
  type: 'Hung',
  status: 'True',
  nodeUID: 'node-1',
  since: ago(500),
  transitions: 3,
  reason: 'TaskHung',
};

describe('the recorded faults of a machine', () => {
  it('are the conditions that are as a rule asks, since our own clock saw them so', () => {
    expect(faults({ Hung: TRUE, Ready: { status: 'True', observedSeconds: 5 } })).toEqual([
      {
        type: 'Hung',
        status: 'True',
        nodeUID: 'node-1',
        since: ago(100),
        transitions: 1,
        reason: 'TaskHung',
      },
    ]);
    expect(faults({ Hung: { ...TRUE, status: 'False' } })).toEqual([]);
    expect(faults({})).toEqual([]);
  });

  it('R2 keep their start while reason and message change, and after a restart', () => {
    const other = { ...TRUE, observedSeconds: 500, reason: 'DockerHung' };
    expect(faults({ Hung: other }, [RECORD])).toEqual([{ ...RECORD, reason: 'DockerHung' }]);
    expect(faults({ Hung: { ...other, observedSeconds: 497 } }, [RECORD])[0]?.since).toBe(ago(500));
  });

  it('R2 begin again with a real change of the status, and with another Node', () => {
    const [fault] = faults({ Hung: TRUE }, [RECORD]);
    expect([fault?.since, fault?.transitions]).toEqual([ago(100), 4]);
    const [replaced] = faults({ Hung: TRUE }, [{ ...RECORD, nodeUID: 'node-0' }]);
    expect([replaced?.since, replaced?.transitions]).toEqual([ago(100), 1]);
  });

  it('are the eight oldest ones, and leave out reasons that the API refuses', () => {
    const types = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((index) => `Bad${index}`);
    const any = [
      { any: types.slice(0, 5).map((type) => leaf(type)) },
      { any: types.slice(5).map((type) => leaf(type)) },
    ];
    const readings = Object.fromEntries(
      types.map((type, index) => [
        type,
        { status: 'True', observedSeconds: index * 10, reason: 'not a reason' },
      ]),
    );
    const found = faults(readings, [], compiled({ any }));
    expect(found.map(({ type }) => type)).toEqual(types.slice(1));
    expect(found.some(({ reason }) => reason !== undefined)).toBe(false);
  });
});

function at(type: string, seconds: number): MachineFault {
  return { ...RECORD, type, since: ago(seconds) };
}

describe('the start of the fault of a rule', () => {
  const recorded = [at('Hung', 500), at('Ready', 900), at('Slow', 100)];
  const TREES: Readonly<Record<string, object>> = {
    'all of Hung and Ready': { all: [leaf('Hung'), leaf('Ready')] },
    'any of Hung and Ready': { any: [leaf('Hung'), leaf('Ready')] },
    'any of Hung and what is not': { any: [leaf('Hung'), leaf('Ready', 'False')] },
    'all of Hung and any of Slow and Ready': { all: [leaf('Hung'), { any: [leaf('Slow'), leaf('Ready')] }] },
    'another condition': { all: [leaf('Other')] },
  };

  it.each<[string, number | undefined]>([
    ['all of Hung and Ready', 500],
    ['any of Hung and Ready', 900],
    ['any of Hung and what is not', 500],
    ['all of Hung and any of Slow and Ready', 500],
    ['another condition', undefined],
  ])('of %s is this many seconds ago: %s', (tree, seconds) => {
    const rule = { compiled: compiled(TREES[tree] ?? {}), facts: () => ({ status: 'True' }) };
    const start = seconds === undefined ? undefined : new Date(ago(seconds));
    expect(recordedSince(rule, recorded)).toEqual(start);
  });
});
