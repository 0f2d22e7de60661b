import { describe, expect, it } from 'vitest';
import { compileRule } from '../../../src/rules/compile.ts';
import type { KnownWorkload } from '../../../src/rules/facts/reading/snapshot.ts';
import type { WorkloadReader } from '../../../src/rules/live/workload-reader.ts';
import { factsBed } from '../live/facts-bed.ts';
import { createRemedierSpec } from '../sample-rule.ts';

const LEAF = { fact: 'workload', path: '$.blockers', operator: 'equal', value: 0 };
const OLD = { fact: 'node', path: '$.ageSeconds', operator: 'greaterThan', value: 5 };

interface Asked extends WorkloadReader {
  readonly asked: string[];
  known: KnownWorkload | undefined;
  readonly listeners: ((node: string) => void)[];
}

function reader(): Asked {
  const found: Asked = {
    asked: [],
    known: undefined,
    listeners: [],
    ask: (node) => {
      found.asked.push(node);
      return found.known;
    },
    peek: () => found.known,
    refresh: () => Promise.resolve(),
    onChange: (listener) => {
      found.listeners.push(listener);
      return () => found.listeners.splice(0);
    },
    close: () => undefined,
  };
  return found;
}

function start() {
  const bed = factsBed();
  const workloads = reader();
  bed.workloads = workloads;
  bed.restart();
  return { bed, workloads };
}

describe('the fact workload', () => {
  it('R1 is unknown where Pods are not read, and until they were read', () => {
    expect(factsBed().why('workload')).toBe('Pods are not read here');
    const { bed, workloads } = start();
    expect(bed.read('workload')).toEqual({});
    expect(workloads.asked).toEqual(['n']);
    expect(bed.why('workload')).toBe('the Pods of the node were not read yet');
  });

  it('has what was read last, for a minute', () => {
    const { bed, workloads } = start();
    workloads.known = { answer: { gangPresent: true, blockers: 2 }, ageMs: 60_000 };
    expect(bed.read('workload')).toEqual({ gangPresent: true, blockers: 2 });
    workloads.known = { ...workloads.known, ageMs: 60_001 };
    expect(bed.why('workload')).toBe('nothing heard of the Pods of the node for 60 s');
    workloads.known = { answer: { problem: 'forbidden' }, ageMs: 0 };
    expect([bed.read('workload'), bed.why('workload')]).toEqual([
      {},
      'the Pods of the node cannot be read: forbidden',
    ]);
  });

  it('reads no Pods to tell when a rule is due, and is read again soon where they were read', () => {
    const { rule } = compileRule(createRemedierSpec({ '/rule': { conditions: OLD, gate: LEAF } }));
    if (!rule) throw new Error('the rule does not compile');
    const { bed, workloads } = start();
    const before = bed.live().dueInMs('n', rule);
    workloads.known = { answer: { gangPresent: false, blockers: 0 }, ageMs: 20_000 };
    expect([before, bed.live().dueInMs('n', rule)]).toEqual([Infinity, 15_001]);
    expect(workloads.asked).toEqual([]);
  });

  it('concerns the machine whose Pods changed, until the facts are closed', () => {
    const { bed, workloads } = start();
    bed.changes.splice(0);
    for (const listener of workloads.listeners) listener('n');
    expect(bed.changes).toEqual([{ machine: 'n', topics: ['workload'] }]);
    bed.live().close();
    expect(workloads.listeners).toEqual([]);
  });

  it('may be used in a gate only, because its Pods are read for nodes with a fault', () => {
    const { problems } = compileRule(createRemedierSpec({ '/rule/conditions': LEAF }));
    expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      'spec.rule.conditions: fact workload is for spec.rule.gate only, because Pods are read for a node that has a fault: move it',
    ]);
  });
});
