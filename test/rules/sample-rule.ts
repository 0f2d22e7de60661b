/** A NodeRemedier that uses all features of the rule language, and variants of it. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export const REMOVED = Symbol('removed');

export const LEAF = {
  fact: 'event',
  params: { reason: 'TaskHung', windowSeconds: 600 },
  path: '$.count',
  operator: 'greaterThanInclusive',
  value: 5,
};
export const STATUS = {
  fact: 'condition',
  params: { type: 'Ready' },
  path: '$.status',
  operator: 'in',
  value: ['False', 'Unknown'],
};
const HUNG = { ...STATUS, params: { type: 'FrequentTaskHung' }, operator: 'equal', value: 'True' };
const HEALTHY = { all: [{ ...STATUS, operator: 'equal', value: 'True' }] };
const REBOOTS = { action: 'Reboot', windowSeconds: 86_400 };

const hung = (ready: string): object => ({
  condition: { FrequentTaskHung: { status: 'True', observedSeconds: 300 }, Ready: { status: ready } },
});
const up = { node: { uptimeSeconds: 86_400 }, history: [], event: [] };

/** With nesting, all and any, observed facts, a gate, two rungs and every outcome. */
const GOOD = {
  mode: 'Enforce',
  owner: { team: 'node-sre' },
  faultClass: 'Kernel',
  target: { nodeSelector: { all: true }, exclude: { matchLabels: { pool: 'system' } } },
  rule: {
    conditions: { all: [HUNG, { any: [STATUS, LEAF] }] },
    gate: {
      all: [
        { fact: 'node', path: '$.uptimeSeconds', operator: 'greaterThanInclusive', value: 900 },
        { fact: 'history', params: REBOOTS, path: '$.count', operator: 'lessThan', value: 2 },
      ],
    },
    maxAgeSeconds: { condition: 660 },
    clearSeconds: 600,
  },
  ladder: [
    {
      name: 'soft',
      plan: [
        { step: 'CollectDiagnostics', onFailure: 'Continue' },
        { step: 'Cordon' },
        { step: 'Drain' },
        { step: 'Reboot' },
        { step: 'WaitForBoot' },
      ],
      verify: { conditions: HEALTHY },
      onVerified: [{ step: 'Uncordon' }],
    },
    { name: 'person', plan: [{ step: 'HandOff' }] },
  ],
  tests: [
    { name: 'hung', expect: 'Match', given: { ...hung('Unknown'), ...up } },
    {
      name: 'well',
      expect: 'NoMatch',
      given: { condition: { FrequentTaskHung: { status: 'False' } }, ...up },
    },
    {
      name: 'restarted twice',
      expect: 'Held',
      given: {
        ...hung('False'),
        ...up,
        history: [2, 4].map((ageSeconds) => ({ action: 'Reboot', ageSeconds })),
      },
    },
    {
      name: 'detector silent',
      expect: 'Indeterminate',
      given: { condition: { Ready: { status: 'False' } } },
    },
  ],
};

/** A deep copy with changes by JSON pointer; REMOVED deletes the value. */
export function createRemedierSpec(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const spec = JSON.parse(JSON.stringify(GOOD)) as Record<string, unknown>;
  for (const [pointer, value] of Object.entries(changes)) {
    const keys = pointer.split('/').slice(1);
    const last = keys.pop() ?? '';
    const holder = keys.reduce<object>((at, key) => (at as Record<string, object>)[key] ?? {}, spec);
    if (value === REMOVED) Reflect.deleteProperty(holder, last);
    else Object.assign(holder, { [last]: value });
  }
  return spec;
}

/** Valid comparisons. */
export const LEAVES: Readonly<Record<string, object>> = {
  event: LEAF,
  status: STATUS,
  node: { fact: 'node', path: '$.uptimeSeconds', operator: 'greaterThanInclusive', value: 5 },
  disk: {
    fact: 'disk',
    params: { filesystem: 'nodefs' },
    path: '$.usedPercent',
    operator: 'greaterThanInclusive',
    value: 5,
  },
};

/** The path of the leaf that `withLeaf` changes. */
export const LEAF_PATH = 'spec.rule.conditions.all[1].any[1]';

export function withLeaf(
  change: Readonly<Record<string, unknown>>,
  leaf: object = LEAF,
): Record<string, unknown> {
  const kept = Object.entries({ ...leaf, ...change }).filter(([, value]) => value !== REMOVED);
  return createRemedierSpec({ '/rule/conditions/all/1/any/1': Object.fromEntries(kept) });
}

/** A row of test/rules/refused. */
export interface RefusedRow {
  readonly it: string;
  readonly from?: string;
  readonly change?: Readonly<Record<string, unknown>>;
  /** What is removed. */
  readonly without?: string;
  readonly at: string;
  readonly message: string;
}

export function readRefusedRows(table: 'comparisons' | 'rules'): readonly RefusedRow[] {
  return parse(readFileSync(new URL(`refused/${table}.yaml`, import.meta.url), 'utf8')) as RefusedRow[];
}
