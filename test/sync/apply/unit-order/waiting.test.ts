import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { objectKey } from '../../../../src/kube/objects/object-id.ts';
import { optional } from '../../../../src/kube/objects/optional.ts';
import type { ObjectOutcome } from '../../../../src/sync/apply/apply-steps.ts';
import { type ObjectPlan, planTarget, type TargetPlan } from '../../../../src/sync/apply/plan.ts';
import { withoutPausedParts } from '../../../../src/sync/apply/prune/paused-parts.ts';
import {
  finishedDependency,
  type UnitOrderInput,
  withUnitOrder,
} from '../../../../src/sync/apply/unit-order/waiting.ts';
import { dependsOn } from '../../unit-order/fixtures.ts';
import { type ApplyScenario, applyInput, configMap, entry, live, unit } from '../fixtures.ts';

function deployment(available: boolean): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'db', namespace: 'shop', generation: 1 },
    spec: { replicas: 1 },
    status: {
      observedGeneration: 1,
      replicas: 1,
      updatedReplicas: 1,
      conditions: [
        { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
        {
          type: 'Available',
          status: available ? 'True' : 'False',
          reason: 'MinimumReplicasUnavailable',
          message: 'too few replicas',
          lastTransitionTime: '2030-01-01T00:00:00Z',
        },
      ],
    },
  };
}

const { status: _status, ...DB } = deployment(true);
const WEB = dependsOn(configMap('web'), 'db');
const OLD_WEB = dependsOn(configMap('web', { key: 'old' }), 'db');
const APP = dependsOn(configMap('app'), 'web');
const ROLE = 'deployments.apps is forbidden';

interface Scenario extends ApplyScenario {
  readonly provenBefore?: boolean;
  readonly isRollback?: true;
  readonly stale?: string;
}

/** A deployed database, and the unit web that depends on it. */
function scenario(dbLive: KubeObject | undefined, more: Scenario = {}): Scenario {
  const { inventory = [], cluster = [], git } = more;
  const found = dbLive
    ? [{ ...live(DB, { unit: 'db' }), ...('status' in dbLive ? { status: dbLive['status'] } : {}) }]
    : [];
  return {
    ...more,
    git: git ?? [unit('db', [DB]), unit('web', [WEB])],
    inventory: [...(dbLive ? [entry(DB, { unit: 'db' })] : []), ...inventory],
    cluster: [...found, ...cluster].map((object) => ({
      ...object,
      metadata: { ...object.metadata, generation: 1 },
    })),
  };
}

function orderOf({ provenBefore = false, stale, ...given }: Scenario): TargetPlan {
  const input = applyInput(given);
  const order: UnitOrderInput = {
    ...input,
    provenBefore,
    observed: { observe: input.live, unknownReason: () => ROLE, staleReason: stale },
  };
  return withUnitOrder(planTarget(input), order);
}

/** `action unit: because`, of what is not the same. */
function explain(plan: TargetPlan): string[] {
  return plan.objects
    .filter(({ action }) => action !== 'same')
    .map(({ action, unit: name, because }) => `${action} ${name}: ${because}`);
}

const NEW_DB = 'create db: new in git';
const WEB_WAITS = 'wait web: unit web waits for unit db: ';

describe('withUnitOrder', () => {
  it.each<[name: string, scenario: Scenario, expected: readonly string[]]>([
    ['writes a unit whose dependency is healthy', scenario(deployment(true)), ['create web: new in git']],
    [
      'holds a unit back until its dependency is written',
      scenario(undefined),
      [
        `${WEB_WAITS}Deployment shop/db is not applied yet: new in git. Fix Deployment shop/db if it stays so: unit web follows at once`,
        NEW_DB,
      ],
    ],
    [
      'holds a unit back until its dependency is healthy, and names the object and since when',
      scenario(deployment(false)),
      [
        `${WEB_WAITS}Deployment shop/db: Available=False, too few replicas, since 2030-01-01T00:00:00.000Z. Fix Deployment shop/db: unit web follows at once`,
      ],
    ],
    [
      'holds a unit back while its dependency cannot be read',
      scenario(undefined, { unknown: ({ kind }) => kind === 'Deployment' }),
      [
        `${WEB_WAITS}Deployment shop/db is not applied yet: Deployment cannot be read. Fix Deployment shop/db if it stays so: unit web follows at once`,
        'wait db: Deployment cannot be read',
      ],
    ],
    [
      'holds a unit back while observations are stale',
      scenario(deployment(true), { stale: 'the watch is silent' }),
      [`${WEB_WAITS}the watch is silent. Wait until unit db can be read: unit web follows at once`],
    ],
    [
      'holds back a unit whose dependency waits itself, and names only the next one',
      scenario(deployment(false), { git: [unit('app', [APP]), unit('db', [DB]), unit('web', [WEB])] }),
      [
        'wait app: unit app waits for unit web: ConfigMap default/web is not applied yet: new in git. Fix ConfigMap default/web if it stays so: unit app follows at once',
        expect.stringContaining(`${WEB_WAITS}Deployment shop/db: Available=False`) as string,
      ],
    ],
    [
      'holds back a unit whose dependency the commit does not declare',
      { git: [unit('web', [WEB])] },
      [`${WEB_WAITS}this commit does not declare it. Declare unit db: unit web follows at once`],
    ],
    [
      'does not hold back other units',
      scenario(deployment(false), { git: [unit('db', [DB]), unit('other', [configMap('other')])] }),
      ['create other: new in git'],
    ],
    [
      'corrects drift whatever the dependency is',
      scenario(deployment(false), {
        inventory: [entry(WEB, { unit: 'web' })],
        cluster: [live({ ...WEB, data: { key: 'foreign' } })],
      }),
      ['correct web: changed in the cluster: data.key'],
    ],
    [
      'creates again what somebody deleted, whatever the dependency is',
      scenario(deployment(false), { inventory: [entry(WEB, { unit: 'web' })] }),
      ['create web: not found, or without its owner labels'],
    ],
    [
      'holds back a change of a unit that exists',
      scenario(deployment(false), { inventory: [entry(OLD_WEB)], cluster: [live(OLD_WEB)] }),
      [expect.stringContaining(`${WEB_WAITS}Deployment shop/db: Available=False`) as string],
    ],
    [
      'lets a revert of a unit that exists pass, because it may be what heals the dependency',
      scenario(deployment(false), {
        inventory: [entry(OLD_WEB)],
        cluster: [live(OLD_WEB)],
        provenBefore: true,
      }),
      ['update web: changed in git'],
    ],
    [
      'holds back proven content of a unit that does not exist, as in a cluster that was built again',
      scenario(undefined, { provenBefore: true }),
      [expect.stringContaining(WEB_WAITS) as string, NEW_DB],
    ],
  ])('S13 lets a unit wait for another: %s', (_, given, expected) => {
    expect(explain(orderOf(given))).toEqual(expected);
  });

  it('S13 reports each waiting unit once, with the object that it waits for', () => {
    const more = [dependsOn(configMap('web-2'), 'db'), WEB];
    const { waitingUnits } = orderOf(
      scenario(deployment(false), { git: [unit('db', [DB]), unit('web', more)] }),
    );
    expect(waitingUnits?.map(({ unit: name, dependency, blocker }) => [name, dependency, blocker])).toEqual([
      ['web', 'db', { kind: 'Deployment', name: 'db', namespace: 'shop' }],
    ]);
  });

  it('S13 changes nothing in the plan of a cluster without dependencies', () => {
    const input = applyInput({ git: [unit('db', [DB])] });
    const plan = planTarget(input);
    const observed = { observe: input.live, unknownReason: () => ROLE, staleReason: undefined };
    expect(withUnitOrder(plan, { ...input, observed })).toEqual(plan);
  });
});

describe('withUnitOrder of a plan with paused parts', () => {
  const CHANGED_DB = { ...DB, spec: { replicas: 2 } };
  const PAUSE = 'to resume it, run kubenode release resume fleet; paused by anna: ticket 7';
  const REMEDIER: KubeObject = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'NodeRemedier',
    metadata: { name: 'disk' },
    spec: { because: 'of the revision' },
  };
  const NEWER = { ...REMEDIER, spec: { because: 'in force' } };
  const KEPT = new Map([['NodeRemedier/disk', 'a rollback changes no rules and no limits']]);
  const RULES_WEB = dependsOn(configMap('web'), 'rules');

  function pausedOrder(given: Scenario): TargetPlan {
    const input = applyInput(given);
    const observed = { observe: input.live, unknownReason: () => ROLE, staleReason: undefined };
    const { provenBefore = false, isRollback } = given;
    const order: UnitOrderInput = { ...input, provenBefore, ...optional('isRollback', isRollback), observed };
    return withUnitOrder(withoutPausedParts(planTarget(input), input), order);
  }

  const units = [unit('db', [CHANGED_DB]), unit('web', [WEB])];
  const byUnit = { more: { pausedUnits: new Map([['db', PAUSE]]) } };
  const byObject = { more: { pausedObjects: new Map([['Deployment/shop/db', PAUSE]]) } };
  const revert = { git: [unit('rules', [REMEDIER]), unit('web', [RULES_WEB])], provenBefore: true };
  const rules = { ...revert, isRollback: true } as const;
  const kept = { more: { pausedObjects: KEPT } };

  it.each<[name: string, scenario: Scenario, expected: readonly unknown[]]>([
    [
      'a paused unit, and tells how to resume it',
      scenario(deployment(true), { git: units, ...byUnit }),
      [
        [
          'UnitPaused',
          `unit web waits for unit db: Deployment shop/db is paused. Resume unit db (${PAUSE}): unit web follows at once`,
        ],
      ],
    ],
    [
      'a paused object, and tells how to resume it',
      scenario(deployment(true), { git: units, ...byObject }),
      [
        [
          'ObjectPaused',
          `unit web waits for unit db: Deployment shop/db is paused. Resume object Deployment/shop/db (${PAUSE}): unit web follows at once`,
        ],
      ],
    ],
    [
      'a paused unit through another one',
      scenario(deployment(true), { git: [...units, unit('app', [APP])], ...byUnit }),
      [
        ['UnitPaused', expect.stringContaining('unit app waits for unit web') as string],
        ['UnitPaused', expect.stringContaining('unit web waits for unit db') as string],
      ],
    ],
    ['nothing when the paused unit is as git declares it', scenario(deployment(true), { ...byUnit }), []],
    [
      'a paused unit also in a revert that has to create it',
      scenario(deployment(true), { git: units, ...byUnit, provenBefore: true }),
      [['UnitPaused', expect.stringContaining('unit web waits for unit db') as string]],
    ],
    [
      'no rule that a rollback leaves as it is',
      {
        ...rules,
        ...kept,
        inventory: [entry(NEWER, { unit: 'rules' })],
        cluster: [live(NEWER, { unit: 'rules' })],
      },
      [],
    ],
    ['no rule that a rollback does not create again', { ...rules, ...kept }, []],
    [
      'a rule that a person paused',
      { ...revert, ...kept },
      [['ObjectPaused', expect.stringContaining('NodeRemedier disk is paused') as string]],
    ],
  ])('S13 lets a new unit wait for %s', (_, given, expected) => {
    const { waitingUnits = [], objects } = pausedOrder(given);
    expect(waitingUnits.map(({ pausedBy, because }) => [pausedBy, because])).toEqual(expected);
    expect(objects.filter(({ action }) => action === 'create').map(({ unit: name }) => name)).toEqual(
      expected.length > 0 ? [] : ['web'],
    );
  });
});

/** Another object of unit db. */
function pausedOf({ objects }: TargetPlan): ObjectPlan {
  const db = objects.find(({ unit: name }) => name === 'db');
  if (!db) throw new Error('the plan has no object of unit db');
  return { ...db, id: { ...db.id, name: 'paused' } };
}

describe('finishedDependency', () => {
  const plan = orderOf(scenario(undefined));
  const outcome = (state: 'applied' | 'failed'): ReadonlyMap<string, ObjectOutcome> => {
    const db = plan.objects.find(({ unit: name }) => name === 'db');
    if (!db) throw new Error('the plan has no object of unit db');
    const failed = { reason: 'Invalid', message: 'rejected', retryable: true };
    const result: ObjectOutcome =
      state === 'applied' ? { state, plan: db, uid: 'u', adopted: false } : { state, plan: db, ...failed };
    return new Map([[objectKey(db.id), result]]);
  };

  it.each<[name: string, plan: TargetPlan, outcomes: ReadonlyMap<string, ObjectOutcome>, expected: boolean]>([
    ['the awaited unit was written', plan, outcome('applied'), true],
    ['a write of it failed: it is not tried again at once', plan, outcome('failed'), false],
    [
      'all of it was written but the rule that a rollback keeps',
      { ...plan, objects: [...plan.objects, { ...pausedOf(plan), action: 'paused' }] },
      outcome('applied'),
      true,
    ],
    ['nothing was written', plan, new Map(), false],
    [
      'all of it is paused',
      { ...plan, objects: [{ ...pausedOf(plan), action: 'paused' }] },
      new Map(),
      false,
    ],
    ['no unit waits for it', { ...plan, waitingUnits: [] }, outcome('applied'), false],
    ['it had nothing to write', orderOf(scenario(deployment(false))), new Map(), false],
  ])('S13 plans again only if an awaited unit was finished: %s', (_, given, outcomes, expected) => {
    expect(finishedDependency(given, outcomes)).toBe(expected);
  });
});
