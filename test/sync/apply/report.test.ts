import { describe, expect, it } from 'vitest';
import { objectIdOf, objectKey } from '../../../src/kube/objects/object-id.ts';
import type { ObjectOutcome } from '../../../src/sync/apply/apply-steps.ts';
import { planTarget, type TargetPlan } from '../../../src/sync/apply/plan.ts';
import type { PruneResult } from '../../../src/sync/apply/prune/prune.ts';
import { reportObserved, summarizeSync, syncedCondition } from '../../../src/sync/apply/report.ts';
import { applyInput, configMap, entry, live, namespace, terminating, UNIT, unit } from './fixtures.ts';

const a = configMap('a');
const b = configMap('b');
const PRUNED: PruneResult = { deleted: 0, waiting: [], marked: 0 };

const bothNew = planTarget(applyInput({ git: [unit(UNIT, [a, b])] }));

function outcomes(plan: TargetPlan, failed: Record<string, boolean>): ReadonlyMap<string, ObjectOutcome> {
  return new Map(
    plan.objects.map((object): [string, ObjectOutcome] => {
      const key = objectKey(object.id);
      const retryable = failed[object.id.name];
      return retryable === undefined
        ? [key, { state: 'applied', adopted: false, plan: object, uid: 'uid-1' }]
        : [key, { state: 'failed', plan: object, reason: 'Invalid', message: 'rejected', retryable }];
    }),
  );
}

describe('summarizeSync', () => {
  it('is Applied when every object was applied', () => {
    const { work, requeue } = summarizeSync('sha256:1', {
      plan: bothNew,
      outcomes: outcomes(bothNew, {}),
      pruned: PRUNED,
    });
    expect(work).toMatchObject({ state: 'Applied', objects: { total: 2, applied: 2, failed: 0 } });
    expect(requeue).toBe('no');
  });

  it.each([
    ['Applying and retried when a failure is retryable', { a: true }, 'Applying'],
    ['Failed when a failure is not retryable', { a: true, b: false }, 'Failed'],
  ] as const)('is %s', (_name, failed, state) => {
    const { work, requeue } = summarizeSync('sha256:1', {
      plan: bothNew,
      outcomes: outcomes(bothNew, failed),
      pruned: PRUNED,
    });
    expect(work.state).toBe(state);
    expect(work.failures[0]).toMatchObject({ unit: UNIT, message: 'rejected (fleet/main.ts:1)' });
    expect(requeue).toBe('later');
  });

  it.each([
    ['no key', { waitReason: 'NotDecrypted' as const }, 'NotDecrypted'],
    ['another hub owns it', {}, 'Waiting'],
  ])('is Applying, and tried again, while an object waits: %s', (because, wait, reason) => {
    const objects = bothNew.objects.map((each) => ({ ...each, ...wait, action: 'wait' as const, because }));
    const plan = { ...bothNew, objects };
    const { work, requeue } = summarizeSync('sha256:1', { plan, outcomes: new Map(), pruned: PRUNED });
    expect(work).toMatchObject({ state: 'Applying', reason, objects: { applied: 0, failed: 2 } });
    expect(work.failures[0]).toMatchObject({ reason, message: `${because} (fleet/main.ts:1)` });
    expect(requeue).toBe('later');
  });

  it('S13 is Applying, and not tried again, while a unit waits for another: nothing failed', () => {
    const wait = { action: 'wait', waitReason: 'UnitNotReady', because: 'unit web waits' } as const;
    const objects = bothNew.objects.map((each) => ({ ...each, ...wait }));
    const blocker = { kind: 'Deployment', name: 'db' };
    const unitWaits = { unit: UNIT, dependency: 'db', because: 'unit web waits for unit db', blocker };
    const waitingUnits = [unitWaits, { ...unitWaits, unit: 'app' }];
    const plan = { ...bothNew, objects, waitingUnits };
    const { work, requeue } = summarizeSync('sha256:1', { plan, outcomes: new Map(), pruned: PRUNED });
    expect(work).toMatchObject({
      state: 'Applying',
      reason: 'UnitNotReady',
      message: 'unit web waits for unit db; and 1 more units wait',
      blocker,
      objects: { applied: 0, failed: 0 },
    });
    expect(work.failures.map(({ reason }) => reason)).toEqual(['UnitNotReady', 'UnitNotReady']);
    expect(requeue).toBe('no');
  });

  it.each([
    [
      'for paused units only',
      ['UnitPaused', 'ObjectPaused'],
      'UnitPaused',
      'unit 0 waits; and 1 more units wait',
    ],
    ['also for a unit that may become ready', ['UnitPaused', undefined], 'UnitNotReady', 'unit 1 waits'],
  ] as const)('S13 reports units that wait %s', (_, pauses, reason, message) => {
    const waitingUnits = pauses.map((pausedBy, index) => ({
      unit: `${index}`,
      dependency: 'db',
      because: `unit ${index} waits`,
      ...(pausedBy === undefined ? {} : { pausedBy }),
    }));
    const plan = { objects: [], prune: [], holds: [], waitingUnits };
    const { work } = summarizeSync('sha256:1', { plan, outcomes: new Map(), pruned: PRUNED });
    expect(work).toMatchObject({ state: 'Applying', reason });
    expect(work.message).toContain(message);
  });

  it.each([
    ['at once after deletes of a unit that others waited for', 1, 'AfterDependents', 'at once'],
    ['later while nothing of it is deleted', 0, 'AfterDependents', 'later'],
    ['later after deletes that nothing waited for', 1, 'Terminating', 'later'],
  ])('S13 plans the deletes of units again %s', (_, deleted, reason, expected) => {
    const waiting = [{ object: 'ConfigMap default/a', unit: UNIT, reason, message: 'deleted after b' }];
    const plan = { objects: [], prune: [], holds: [] };
    const pruned = { deleted, marked: 0, waiting };
    expect(summarizeSync('sha256:1', { plan, outcomes: new Map(), pruned }).requeue).toBe(expected);
  });

  it('is Held before anything else, with the plan digest to acknowledge', () => {
    const held = planTarget(applyInput({ inventory: [entry(a)], cluster: [live(a)] }));
    const waiting = [{ object: 'ConfigMap default/a', unit: UNIT, reason: 'DeletesHeld', message: 'held' }];
    const { work, requeue } = summarizeSync('sha256:1', {
      plan: held,
      outcomes: new Map(),
      pruned: { ...PRUNED, waiting },
    });
    expect(work).toMatchObject({ state: 'Held', reason: 'DeletesHeld', failures: [] });
    expect(work.message).toContain(`acknowledge unit web with planDigest ${held.holds[0]?.planDigest}`);
    expect(requeue).toBe('no');
  });

  it('S40 is Held, and not Failed, while a replacement waits for a person', () => {
    const [plan] = planTarget(applyInput({ git: [unit(UNIT, [a])] })).objects;
    if (!plan) throw new Error('expected one object in the plan');
    const outcome = {
      state: 'failed' as const,
      plan,
      reason: 'ReplacementHeld',
      message: 'ConfigMap default/a: kubectl made it immutable',
      retryable: true,
    };
    const { work, requeue } = summarizeSync('sha256:1', {
      plan: { objects: [plan], prune: [], holds: [] },
      outcomes: new Map([['ConfigMap default/a', outcome]]),
      pruned: PRUNED,
    });
    expect(work).toMatchObject({ state: 'Held', reason: 'ReplacementHeld' });
    expect(work.message).toContain('kubectl made it immutable');
    expect(requeue).toBe('later');
  });

  it.each([
    ['a unit and an object', ['unit web', 'object ConfigMap/default/b'], 'UnitPaused'],
    ['objects only', ['object ConfigMap/default/b'], 'ObjectPaused'],
  ])('is Applying while only %s are paused, and names who and why', (_name, names, reason) => {
    const paused = names.map((name) => ({
      name,
      reason: name.startsWith('unit') ? ('UnitPaused' as const) : ('ObjectPaused' as const),
      because: 'paused by anna: ticket 7',
      differing: 1,
      removed: 0,
    }));
    const plan = { ...bothNew, objects: [], paused };
    const message = names
      .map((name) => `${name} is paused, and 1 objects differ from git: paused by anna: ticket 7`)
      .join('; ');
    const { work, requeue } = summarizeSync('sha256:1', { plan, outcomes: new Map(), pruned: PRUNED });
    expect(work).toMatchObject({ state: 'Applying', reason, message });
    expect(requeue).toBe('no');
  });

  it('names a pause of an object that does not exist, and stays Applied', () => {
    const plan = { ...bothNew, unmatchedPauses: ['ConfigMap/default/misspelt'] };
    const { work } = summarizeSync('sha256:1', { plan, outcomes: outcomes(plan, {}), pruned: PRUNED });
    expect(work).toMatchObject({
      state: 'Applied',
      message:
        'every object matches git; spec.pauses names objects that neither git nor the inventory lists: ConfigMap/default/misspelt. Correct the names',
    });
  });

  it('names the whole plan digest where a status truncates a message', () => {
    const name = `${'p'.repeat(63)}.${'u'.repeat(63)}`;
    const objects = ['a', 'b', 'c'].map((prefix) => namespace(prefix.repeat(63)));
    const inventory = objects.map((object) => entry(object, { unit: name }));
    const cluster = objects.map((object) => live(object, { unit: name }));
    const plan = planTarget(applyInput({ git: [unit(name, [a])], inventory, cluster }));
    const { work } = summarizeSync('sha256:1', { plan, outcomes: new Map(), pruned: PRUNED });
    expect(work.message.slice(0, 255)).toContain(
      `unit ${name} with planDigest ${plan.holds[0]?.planDigest} `,
    );
  });

  it('requeues at once after a protected object was marked', () => {
    const result = { plan: bothNew, outcomes: outcomes(bothNew, {}), pruned: { ...PRUNED, marked: 1 } };
    expect(summarizeSync('sha256:1', result).requeue).toBe('at once');
  });

  it('is Applying while a pruned object still exists', () => {
    const waiting = [
      { object: 'ConfigMap default/x', unit: UNIT, reason: 'Terminating', message: 'finalizers x/y' },
    ];
    const { work } = summarizeSync('sha256:1', {
      plan: bothNew,
      outcomes: outcomes(bothNew, {}),
      pruned: { ...PRUNED, waiting },
    });
    expect(work).toMatchObject({ state: 'Applying', reason: 'Terminating', failures: waiting });
  });

  it('SAF-2 is Applied while only finalizers of others keep what was pruned, and names the object and the finalizers', () => {
    const why = { unit: UNIT, keptByOthers: true } as const;
    const waiting = [
      { ...why, object: 'CRD a', reason: 'DeleteFirst', message: 'deleted after Widget default/w' },
      { ...why, object: 'Widget default/w', reason: 'ForeignFinalizer', message: 'finalizers x/y' },
    ];
    const { work, requeue } = summarizeSync('sha256:1', {
      plan: bothNew,
      outcomes: outcomes(bothNew, {}),
      pruned: { ...PRUNED, waiting },
    });
    expect([work.state, work.message, requeue]).toEqual([
      'Applied',
      'every object matches git; no commit waits for what others keep: Widget default/w: finalizers x/y, and 1 more',
      'later',
    ]);
    expect(work.failures).toEqual([
      { object: 'Widget default/w', unit: UNIT, reason: 'ForeignFinalizer', message: 'finalizers x/y' },
      { object: 'CRD a', unit: UNIT, reason: 'DeleteFirst', message: 'deleted after Widget default/w' },
    ]);
  });

  it('SAF-2 waits for an object with our finalizer, whatever others keep', () => {
    const ours = { object: 'Machine m', unit: UNIT, reason: 'Terminating', message: 'kubenode.dev/machine' };
    const theirs = { object: 'ConfigMap default/x', unit: UNIT, reason: 'ForeignFinalizer', message: 'x/y' };
    const { work } = summarizeSync('sha256:1', {
      plan: bothNew,
      outcomes: outcomes(bothNew, {}),
      pruned: { ...PRUNED, waiting: [{ ...theirs, keptByOthers: true }, ours] },
    });
    expect(work).toMatchObject({
      state: 'Applying',
      reason: 'Terminating',
      message: 'Machine m: kubenode.dev/machine',
      failures: [ours, theirs],
    });
  });

  it('lists at most 20 failures', () => {
    const many = Array.from({ length: 30 }, (_, index) => configMap(`c${index}`));
    const plan = planTarget(applyInput({ git: [unit(UNIT, many)] }));
    const failed = Object.fromEntries(many.map(({ metadata }) => [metadata.name, true]));
    const { work } = summarizeSync('sha256:1', { plan, outcomes: outcomes(plan, failed), pruned: PRUNED });
    expect(work.failures).toHaveLength(20);
    expect(work.objects.failed).toBe(30);
    expect(work.message).toContain('and 29 more');
  });
});

describe('reportObserved', () => {
  it('reports how far the cluster is from the commit while nothing is written', () => {
    const plan = planTarget(
      applyInput({ git: [unit(UNIT, [a, b])], inventory: [entry(a)], cluster: [live(a)] }),
    );
    expect(reportObserved('sha256:1', plan)).toMatchObject({
      state: 'Applying',
      reason: 'NotWritten',
      objects: { total: 2, applied: 1 },
      failures: [{ object: objectKey(objectIdOf(b)), unit: UNIT, message: 'create: new in git' }],
    });
  });

  it('SAF-2 is Applied while only finalizers of others keep what was removed', () => {
    const plan = planTarget(applyInput({ git: [], inventory: [entry(a)], cluster: [terminating(a)] }));
    expect(reportObserved('sha256:1', plan)).toMatchObject({
      state: 'Applied',
      message: expect.stringContaining('no commit waits for what others keep') as string,
      failures: [{ object: objectKey(objectIdOf(a)), unit: UNIT, reason: 'ForeignFinalizer' }],
    });
  });

  it('is Applied when the cluster matches the commit', () => {
    const plan = planTarget(
      applyInput({ git: [unit(UNIT, [a])], inventory: [entry(a)], cluster: [live(a)] }),
    );
    expect(reportObserved('sha256:1', plan).state).toBe('Applied');
  });
});

describe('syncedCondition', () => {
  const { work } = summarizeSync('sha256:1', {
    plan: bothNew,
    outcomes: outcomes(bothNew, {}),
    pruned: PRUNED,
  });

  it.each([
    ['Unknown while the observations are stale', work, 'no contact', 'Unknown Stale'],
    ['Unknown before the first reconcile', undefined, undefined, 'Unknown NotLooked'],
    ['True when everything is applied', work, undefined, 'True Applied'],
    ['False when work is left', { ...work, state: 'Applying', reason: 'X' } as const, undefined, 'False X'],
  ] as const)(
    'S21 reports Synced only by a current observation: %s',
    (_name, report, staleReason, expected) => {
      const { status, reason } = syncedCondition(report, staleReason);
      expect(`${status} ${reason}`).toBe(expected);
    },
  );
});
