/** A NodeRemedier that uses all of the language, and small changes of it. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export const GONE = Symbol('gone');

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

/** Depth, both joins, all facts that count, a gate, two rungs and each answer. */
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

/** A copy, which shares no part, in which the places, as JSON pointers, hold something else; GONE takes a place out. */
export function remedier(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const spec = JSON.parse(JSON.stringify(GOOD)) as Record<string, unknown>;
  for (const [pointer, value] of Object.entries(changes)) {
    const keys = pointer.split('/').slice(1);
    const last = keys.pop() ?? '';
    const holder = keys.reduce<object>((at, key) => (at as Record<string, object>)[key] ?? {}, spec);
    if (value === GONE) Reflect.deleteProperty(holder, last);
    else Object.assign(holder, { [last]: value });
  }
  return spec;
}

/** Good comparisons to change. */
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

/** Where the leaf stands that `withLeaf` changes. */
export const LEAF_PATH = 'spec.rule.conditions.all[1].any[1]';

export function withLeaf(
  change: Readonly<Record<string, unknown>>,
  leaf: object = LEAF,
): Record<string, unknown> {
  const kept = Object.entries({ ...leaf, ...change }).filter(([, value]) => value !== GONE);
  return remedier({ '/rule/conditions/all/1/any/1': Object.fromEntries(kept) });
}

/** A row of test/rules/refused. */
export interface Refused {
  readonly it: string;
  readonly from?: string;
  readonly change?: Readonly<Record<string, unknown>>;
  /** What is taken out. */
  readonly without?: string;
  readonly at: string;
  readonly says: string;
}

export function refused(table: 'comparisons' | 'rules'): readonly Refused[] {
  return parse(readFileSync(new URL(`refused/${table}.yaml`, import.meta.url), 'utf8')) as Refused[];
}
