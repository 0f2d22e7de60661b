import { describe, expect, it } from 'vitest';
import { listAt } from '../../../src/kube/objects/json.ts';
import { compileRule } from '../../../src/rules/compile.ts';
import { type MachineParts, machine, node } from '../../support/builders.ts';
import { remedyJob } from '../../support/remediers.ts';
import { type FactsBed, factsBed } from '../live/facts-bed.ts';
import { createRemedierSpec } from '../sample-rule.ts';

const DRIVER = { scope: 'driverVersion', faultClass: 'GPU', windowSeconds: 3600 };
const CLUSTER = { ...DRIVER, scope: 'cluster' };
const WAITS = [
  { rule: 'gpu', faultClass: 'GPU', reason: 'GateClosed', since: '2026-01-01T00:00:00Z' },
] as const;

/** A machine with this driver; unwell: a rule waits. */
function gpu(gpuDriver: string, isUnwell = false): MachineParts {
  return { status: { system: { gpuDriver }, remedyWaits: isUnwell ? WAITS : [] } };
}

/** Machine `n` and three others of the driver 550, of which one is unwell, and one of the driver 560. */
function open(): FactsBed {
  const bed = factsBed();
  bed.machine(gpu('550'));
  for (const name of ['b', 'c']) bed.put('machines', machine(name, gpu('550')));
  bed.put('machines', machine('d', gpu('550', true)));
  bed.put('machines', machine('e', gpu('560', true)));
  return bed;
}

function gate(fact: object): object {
  const conditions = { fact: 'node', path: '$.ageSeconds', operator: 'greaterThan', value: 5 };
  return { conditions, gate: fact };
}

const LEAF = { fact: 'fleet', params: DRIVER, path: '$.affectedRatio', operator: 'lessThan', value: 0.05 };

describe('the fact fleet', () => {
  it('R21 counts the machines that share a property with this one, and all of them', () => {
    const bed = open();
    expect(bed.read('fleet', DRIVER)).toEqual({ affectedRatio: 0.25, affectedCount: 1 });
    expect(bed.read('fleet', CLUSTER)).toEqual({ affectedRatio: 0.4, affectedCount: 2 });
    expect(bed.read('fleet', { ...DRIVER, faultClass: 'Disk' })?.['affectedCount']).toBe(0);
  });

  it('R21 counts the same after a restart of the controller', () => {
    const bed = open();
    bed.put('jobs', { ...remedyJob({ machine: 'b', begun: 60 }) });
    const before = bed.read('fleet', { ...DRIVER, faultClass: 'Kernel' });
    bed.restart();
    expect(bed.read('fleet', DRIVER)).toEqual({ affectedRatio: 0.25, affectedCount: 1 });
    expect(bed.read('fleet', { ...DRIVER, faultClass: 'Kernel' })).toEqual(before);
  });

  it('R1 is unknown for a machine without the property', () => {
    const bed = open();
    bed.machine();
    expect(bed.read('fleet', DRIVER)).toEqual({});
    expect(bed.why('fleet', DRIVER)).toBe('the machine has no known driverVersion');
    expect(bed.read('fleet', CLUSTER)?.['affectedCount']).toBe(2);
  });

  it.each(['machines', 'nodes', 'jobs'] as const)(
    'R1 is unknown while the view of %s is not current',
    (view) => {
      const bed = open();
      bed.silence(view, 121_000);
      expect(bed.why('fleet', DRIVER)).toBe(`nothing heard of the view of ${view} for 121 s`);
      bed.silence(view, 119_000);
      expect(bed.read('fleet', DRIVER)?.['affectedCount']).toBe(1);
      bed.silence(view, Infinity);
      expect(bed.why('fleet', DRIVER)).toContain('initial list not complete');
    },
  );

  it('R29 is unknown for a command that read the objects of one node only', () => {
    const bed = open();
    bed.fleetProblem = 'only this node was read';
    bed.restart();
    expect(bed.read('fleet', CLUSTER)).toEqual({});
    expect(bed.why('fleet', CLUSTER)).toBe('only this node was read');
  });

  it('is read again while this machine is affected, because others change without a change of it', () => {
    const rule = compileRule(createRemedierSpec({ '/rule': gate(LEAF) })).rule;
    if (!rule) throw new Error('the rule does not compile');
    const bed = open();
    bed.node({ Ready: 'True' });
    bed.live();
    expect(bed.live().dueInMs('n', rule)).toBeGreaterThan(30_001);
    bed.machine(gpu('550', true));
    expect(bed.live().dueInMs('n', rule)).toBe(30_001);
  });

  it('is concerned by the waits and the jobs of the machine only', () => {
    const bed = open();
    bed.changes.splice(0);
    bed.machine(gpu('550', true));
    bed.put('machines', machine('b', gpu('550', true)));
    bed.put('nodes', node('c', 'True'));
    const concerned = bed.changes.filter(({ topics }) => topics.includes('fleet'));
    expect(concerned.map(({ machine: name }) => name)).toEqual(['n', 'b', 'c']);
  });

  it('R21 may be used in a gate only: a fault that proves itself by others would spread', () => {
    const { problems } = compileRule(
      createRemedierSpec({
        '/rule/conditions': LEAF,
        '/ladder/0/verify/conditions': LEAF,
      }),
    );
    const hint = 'fact fleet is for spec.rule.gate only, because it tells nothing about this node: move it';
    expect(problems.filter(({ message }) => message === hint).map(({ path }) => path)).toEqual([
      'spec.rule.conditions',
      'spec.ladder',
    ]);
    const { problems: none, rule } = compileRule(createRemedierSpec({ '/rule': gate(LEAF) }));
    expect(none).toEqual([]);
    expect(listAt(rule, 'reads').length).toBe(2);
  });
});
