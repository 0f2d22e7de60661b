/**
 * F17, the diskerase incident at Google: an empty list of machines to erase was read as all of them. json-rules-engine does the
 * same: `all: []` matches every node.
 */
import { faultRule } from './fault-rules.ts';
import { createRepairBed, type RepairBed } from './repair-bed.ts';

const TYPE = 'FrequentTaskHung';
const status = { fact: 'condition', params: { type: TYPE }, path: '$.status' };

/** By what is empty: changes of a rule by JSON pointer, and the field that is refused. */
export const EMPTY_SELECTIONS: Readonly<
  Record<string, { readonly changes: Readonly<Record<string, unknown>>; readonly field: string }>
> = {
  'a list of conditions that must all hold': {
    changes: { '/rule/conditions': { all: [] } },
    field: 'spec.rule.conditions.all',
  },
  'a list of conditions of which one must hold': {
    changes: { '/rule/conditions': { any: [] } },
    field: 'spec.rule.conditions.any',
  },
  'a list inside of another one': {
    changes: { '/rule/conditions': { all: [{ any: [] }] } },
    field: 'spec.rule.conditions.all[0].any',
  },
  'the conditions': { changes: { '/rule/conditions': {} }, field: 'spec.rule.conditions' },
  'a list of values': {
    changes: { '/rule/conditions': { all: [{ ...status, operator: 'in', value: [] }] } },
    field: 'spec.rule.conditions.all[0].value',
  },
  'the selector of nodes': { changes: { '/target/nodeSelector': {} }, field: 'spec.target.nodeSelector' },
};

/** The node is well, and sick later: a rule that is refused does not act on either. */
export async function replayEmptySelection(changes: Readonly<Record<string, unknown>>): Promise<RepairBed> {
  const bed = createRepairBed([faultRule(TYPE, { changes })]);
  bed.node.report(TYPE, 'False');
  await bed.start();
  await bed.live(60);
  bed.node.report(TYPE, 'True');
  await bed.live(60);
  return bed;
}
