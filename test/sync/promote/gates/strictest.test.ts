import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Check, Stage } from '../../../../src/api/generated/types.ts';
import { pipeline } from '../../../../src/api/kinds/pipeline.ts';
import {
  type GateSet,
  gatesOf,
  isApproved,
  strictestGates,
  strictestStage,
} from '../../../../src/sync/promote/gates/strictest.ts';
import { checkOf } from '../../../rollout/builders.ts';
import { PromotionSimulation, stageOf } from '../simulation/simulation.ts';

const check = (name: string, url = 'http://a'): Check => checkOf({ name, http: { url, expectStatus: 200 } });

type Row = [loose: Partial<Stage>, strict: Partial<Stage>];

const WEB = { unit: 'web', serviceAccount: 'shop/web' };
const NIGHT = { name: 'night', start: '22:00', end: '06:00', timeZone: 'Europe/Berlin' };

/** Each field of a stage with a looser and a stricter value. Where neither is stricter, the row is in `kept`. */
const ORDERED: Readonly<Record<string, Row>> = {
  maxConcurrentClusters: [{ maxConcurrentClusters: 5 }, { maxConcurrentClusters: 2 }],
  maxFailedClusters: [{ maxFailedClusters: '30%' }, { maxFailedClusters: '5%' }],
  soakSeconds: [{ soakSeconds: 0 }, { soakSeconds: 3600 }],
  checks: [{ checks: [] }, { checks: [check('a')] }],
  approval: [{ approval: 'None' }, { approval: 'Required' }],
  approvalByOther: [{ approvalByOther: false }, { approvalByOther: true }],
  revertPasses: [
    { revertPasses: { windows: true, freezes: true } },
    { revertPasses: { windows: false, freezes: false } },
  ],
  // In both lists: which of two windows is stricter depends on the moment.
  windows: [{ windows: [] }, { windows: [NIGHT] }],
  unreachable: [
    { unreachable: { graceSeconds: 60, maxSkipped: 9 } },
    { unreachable: { graceSeconds: 3600, maxSkipped: 1 } },
  ],
};

/** What is in force stays for this commit, in both directions. */
const KEPT: Readonly<Record<string, Row>> = {
  clusterSelector: [
    { clusterSelector: { all: true } },
    { clusterSelector: stageOf({ name: 'prod' }).clusterSelector },
  ],
  windows: [{ windows: [NIGHT] }, { windows: [{ ...NIGHT, end: '05:00' }] }],
};

describe('S36, SAF-9 takes the strictest of both for each field of a stage', () => {
  it('knows every field of a stage', () => {
    const fields = new Set(['name', ...Object.keys(ORDERED), ...Object.keys(KEPT)]);
    expect([...fields].toSorted()).toEqual(shapeOf(stageSchema()).toSorted());
  });

  it.each(Object.entries(ORDERED))('%s: at once when stricter, not yet when looser', (_, [loose, strict]) => {
    const [a, b] = [stageOf({ name: 'prod', ...loose }), stageOf({ name: 'prod', ...strict })];
    expect(strictestStage(a, b)).toEqual(b);
    expect(strictestStage(b, a)).toEqual(b);
  });

  it.each(Object.entries(KEPT))('%s: as it is in force', (_, [one, other]) => {
    const [a, b] = [stageOf({ name: 'prod', ...one }), stageOf({ name: 'prod', ...other })];
    expect(strictestStage(a, b)).toEqual(a);
    expect(strictestStage(b, a)).toEqual(b);
  });

  it('keeps the amount in force when one is a number and the other a percentage', () => {
    const [a, b] = [
      stageOf({ name: 'prod', maxFailedClusters: 3 }),
      stageOf({ name: 'prod', maxFailedClusters: '1%' }),
    ];
    expect(strictestStage(a, b).maxFailedClusters).toBe(3);
    expect(strictestStage(b, a).maxFailedClusters).toBe('1%');
  });

  it('adds new checks, keeps removed ones, and takes a changed one as it is in force', () => {
    const before = stageOf({ name: 'prod', checks: [check('a'), check('b')] });
    const now = stageOf({ name: 'prod', checks: [check('b', 'http://other'), check('c')] });
    expect(strictestStage(before, now).checks).toEqual([check('a'), check('b'), check('c')]);
  });
});

const SALE = { name: 'sale', from: '2030-01-01T00:00:00Z', until: '2030-01-02T00:00:00Z', reason: 'sale' };

/** Every field of spec, and how a commit that changes it is judged. A new field fails here until it is decided. */
const FIELDS: Readonly<Record<string, 'strictest' | 'at once' | 'no gate' | 'refused'>> = {
  stages: 'strictest',
  unassigned: 'strictest',
  deleteBudget: 'strictest',
  approvals: 'strictest',
  // A stop of everything, for those who may commit. The stop that no commit lifts is halt.
  paused: 'at once',
  halt: 'refused',
  // Written by a person with kubenode release accept-head.
  acceptedHead: 'refused',
  // It names exactly what is lost.
  acknowledgements: 'at once',
  // What is read, and how. The history guard judges what it leads to.
  source: 'no gate',
  historyLimit: 'no gate',
  onFailure: 'refused',
  freezes: 'strictest',
  forceManagers: 'strictest',
  healthExpressions: 'strictest',
  // It only lets sync write less than the commit declares.
  fieldPolicies: 'no gate',
  identities: 'strictest',
};

const ROLLOUT = { group: 'argoproj.io', kind: 'Rollout', healthy: "self.status.phase == 'Healthy'" };

describe('strictestGates', () => {
  const { spec } = new PromotionSimulation().pipeline;
  const gates = (more: Partial<GateSet> = {}): GateSet => ({ ...gatesOf(spec), ...more });

  it('covers every field of a Pipeline that judges', () => {
    expect(Object.keys(FIELDS).toSorted()).toEqual(shapeOf(pipeline.spec).toSorted());
    const all = {
      ...spec,
      freezes: [SALE],
      forceManagers: ['helm'],
      healthExpressions: [ROLLOUT],
      identities: [WEB],
    };
    const strictest = Object.keys(FIELDS).filter((field) => FIELDS[field] === 'strictest');
    expect(Object.keys(gatesOf(all)).toSorted()).toEqual(strictest.toSorted());
  });

  it.each<[name: string, loose: Partial<GateSet>, strict: Partial<GateSet>]>([
    ['unassigned', { unassigned: 'Ignore' }, { unassigned: 'Fail' }],
    [
      'deleteBudget',
      { deleteBudget: { maxObjects: 100, maxPercent: 90 } },
      { deleteBudget: { maxObjects: 1, maxPercent: 0 } },
    ],
    ['approvals', { approvals: [{ stage: 'prod', planDigest: 'p1', reason: '' }] }, { approvals: [] }],
    ['freezes', {}, { freezes: [SALE] }],
    ['forceManagers', { forceManagers: ['helm', 'kubectl'] }, { forceManagers: ['helm'] }],
    ['healthExpressions', {}, { healthExpressions: [ROLLOUT] }],
    ['the first of forceManagers', { forceManagers: ['helm'] }, {}],
    ['identities', {}, { identities: [WEB] }],
    ['the end of a freeze', { freezes: [SALE] }, { freezes: [{ ...SALE, until: '2030-02-01T00:00:00Z' }] }],
    ['the start of a freeze', { freezes: [SALE] }, { freezes: [{ ...SALE, from: '2029-12-01T00:00:00Z' }] }],
  ])('%s: at once when stricter, not yet when looser', (_, loose, strict) => {
    expect(strictestGates(gates(loose), gates(strict))).toEqual(gates(strict));
    expect(strictestGates(gates(strict), gates(loose))).toEqual(gates(strict));
  });

  it('S14 keeps an expression that a commit changes: the next commit is judged by the new one', () => {
    const before = gates({ healthExpressions: [ROLLOUT] });
    const other = { ...ROLLOUT, kind: 'Analysis' };
    const now = gates({ healthExpressions: [{ ...ROLLOUT, healthy: 'true' }, other] });
    expect(strictestGates(before, now).healthExpressions).toEqual([ROLLOUT, other]);
  });

  it.each([
    ['keeps a removed stage in its place', 'test pre prod', 'test prod', 'test pre prod'],
    ['puts a new stage after the one before it', 'test prod', 'test pre prod', 'test pre prod'],
    ['puts a new first stage first', 'test prod', 'canary test prod', 'canary test prod'],
    ['keeps the order in force', 'test pre prod', 'prod pre test', 'test pre prod'],
    ['replaces all stages only later', 'test prod', 'a b', 'a b test prod'],
  ])('%s', (_, before, now, expected) => {
    const found = strictestGates(gates({ stages: stagesOf(before) }), gates({ stages: stagesOf(now) }));
    expect(found.stages.map(({ name }) => name).join(' ')).toBe(expected);
  });

  it('S29 keeps the account in force when a commit names another one, and adds those of other units', () => {
    const other = { ...WEB, serviceAccount: 'kube-system/admin' };
    const db = { unit: 'db', serviceAccount: 'shop/db' };
    const found = strictestGates(gates({ identities: [WEB] }), gates({ identities: [other, db] }));
    expect(found.identities).toEqual([WEB, db]);
  });

  it('takes an approval for what it approves, whatever its reason', () => {
    const approval = { stage: 'prod', planDigest: 'p1', reason: 'a' };
    const other = { ...approval, reason: 'b' };
    expect(isApproved([approval], other)).toBe(true);
    expect(isApproved([approval], { ...approval, stage: 'pre' })).toBe(false);
  });
});

function stagesOf(names: string): Stage[] {
  return names.split(' ').map((name) => stageOf({ name }));
}

function shapeOf(schema: z.ZodType): string[] {
  return Object.keys((unwrap(schema) as z.ZodObject).shape);
}

function stageSchema(): z.ZodType {
  const stages = unwrap((pipeline.spec as z.ZodObject).shape['stages'] as z.ZodType);
  return (stages as z.ZodArray).element as z.ZodType;
}

function unwrap(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodDefault ? (schema.unwrap() as z.ZodType) : schema;
}
