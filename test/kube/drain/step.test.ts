import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { DrainStep } from '../../../src/kube/drain/step.ts';
import { node } from '../../support/builders.ts';
import { budget, type DrainBed, drainBed, drainPod } from '../../support/kube/drain-bed.ts';

const CART = { labels: { app: 'cart' } };
const COVERS_CART = { matchLabels: CART.labels };

/** As a controller does: with what the step before returned. */
async function again(bed: DrainBed, last: DrainStep): Promise<DrainStep> {
  await bed.clock.advance(last.requeueAt.getTime() - bed.clock.now().getTime());
  return bed.step({ answers: last.answers, previous: last.progress });
}

function counts({ progress: { total, evicted, pending } }: DrainStep): readonly number[] {
  return [total, evicted, pending];
}

describe('stepDrain', () => {
  it('evicts the pods of all pages, waits until they have ended, and is done', async () => {
    const bed = drainBed(['a', 'b', 'c', 'd', 'e'].map((name) => drainPod(name)));
    const first = await bed.step();
    expect([first.state, counts(first), bed.sent.length]).toEqual(['Draining', [5, 0, 5], 5]);
    bed.pods = bed.pods.slice(0, 2);
    const second = await again(bed, first);
    expect([second.state, counts(second), bed.sent.length]).toEqual(['Draining', [5, 3, 2], 5]);
    bed.pods = [];
    const last = await again(bed, second);
    expect([last.state, counts(last)]).toEqual(['Drained', [5, 5, 0]]);
  });

  it('takes a budget as an answer: evicts the others, and the rest when it allows it', async () => {
    const bed = drainBed([drainPod('a', CART), drainPod('b', CART), drainPod('c')]);
    bed.budgets = [budget('b1', COVERS_CART)];
    bed.allowed.set('shop/b1', 1);
    const first = await bed.step();
    expect(bed.sent).toEqual(['uid-a', 'uid-b', 'uid-c']);
    expect(first.progress).toMatchObject({ pending: 3, blockedBy: ['shop/b1'] });
    expect(first.progress.blocks).toMatchObject([{ kind: 'PodDisruptionBudget', pods: 1 }]);
    bed.allowed.set('shop/b1', 1);
    const second = await again(bed, first);
    expect(bed.sent.slice(3)).toEqual(['uid-b']);
    expect(second.progress.blockedBy).toEqual([]);
  });

  it('R35 names a budget that never allows it, and since when, also after a restart', async () => {
    const bed = drainBed([drainPod('a', CART)]);
    bed.budgets = [budget('b1', COVERS_CART)];
    const since = bed.clock.now();
    let last = await bed.step();
    for (let n = 0; n < 5; n += 1) last = await again(bed, last);
    expect(last.progress.blocks).toMatchObject([{ name: 'shop/b1', since }]);
    const previous = { ...last.progress, blockedSince: since };
    await bed.clock.advance(60_000);
    const restarted = await bed.step({ previous });
    expect(restarted.progress.blocks).toMatchObject([{ name: 'shop/b1', since }]);
    expect(restarted.state).toBe('Draining');
  });

  it('asks a budget less and less often, and never between', async () => {
    const bed = drainBed([drainPod('a', CART)]);
    bed.budgets = [budget('b1', COVERS_CART)];
    let last = await bed.step();
    const startMs = bed.clock.now().getTime();
    while (bed.clock.now().getTime() < startMs + 300_000) last = await again(bed, last);
    // After 0, 5, 15, 35, 75, 135, 195, 255 seconds; the steps between only list.
    expect(bed.sent.length).toBe(8);
  });

  it('names all budgets of a pod with more than one, and evicts the others', async () => {
    const bed = drainBed([drainPod('a', CART), drainPod('b')]);
    bed.budgets = [budget('b1', COVERS_CART), budget('b2', COVERS_CART)];
    const { progress, actions } = await bed.step();
    expect(progress.blockedBy).toEqual(['shop/b1', 'shop/b2']);
    expect(progress.message).toContain('more than one PodDisruptionBudget covers it (shop/b1, shop/b2)');
    expect(actions.map((action) => action.type === 'Wait' && action.reason)).toEqual([
      'SeveralBudgets',
      'Terminating',
    ]);
  });

  it('is not kept from the others by a pod that is denied or has another UID', async () => {
    const bed = drainBed(['a', 'b', 'c', 'd'].map((name) => drainPod(name)));
    bed.errors.set('a', new KubeError('Forbidden', 'webhook', { status: 403 }));
    bed.errors.set('b', new KubeError('Conflict', 'uid', { status: 409 }));
    const { progress, actions } = await bed.step();
    expect(progress.blockedBy).toEqual(['shop/a']);
    expect(actions.map((action) => action.type === 'Wait' && action.reason)).toEqual([
      'Denied',
      'Changed',
      'Terminating',
      'Terminating',
    ]);
  });

  it('evicts a pod that took the name of an evicted one, by its own UID', async () => {
    const bed = drainBed([drainPod('a')]);
    const first = await bed.step();
    bed.pods = [drainPod('a', { uid: 'uid-new' })];
    const second = await again(bed, first);
    expect(bed.sent).toEqual(['uid-a', 'uid-new']);
    expect([...second.answers.keys()]).toEqual(['uid-new']);
  });

  it('sends no more evictions to an overloaded server, and the rest in the next step', async () => {
    const bed = drainBed(Array.from({ length: 30 }, (_, n) => drainPod(`p-${100 + n}`)));
    bed.errors.set('p-100', new KubeError('TooManyRequests', 'slow', { status: 429, retryAfterSeconds: 1 }));
    const first = await bed.step();
    expect(bed.sent.length).toBeLessThan(30);
    expect(first.progress.blockedBy).toEqual([]);
    bed.errors.clear();
    await again(bed, first);
    expect(new Set(bed.sent).size).toBe(30);
  });

  it('has at most 8 evictions in flight', async () => {
    const bed = drainBed(Array.from({ length: 30 }, (_, n) => drainPod(`p-${n}`)));
    await bed.step();
    expect([bed.inFlight(), bed.sent.length]).toEqual([8, 30]);
  });

  it('throws when no server answers, so that the controller backs off', async () => {
    const bed = drainBed(Array.from({ length: 30 }, (_, n) => drainPod(`p-${n}`)));
    for (const { metadata } of bed.pods) bed.errors.set(metadata.name, new KubeError('Unreachable', 'reset'));
    await expect(bed.step()).rejects.toMatchObject({ code: 'Unreachable' });
    expect(bed.sent.length).toBe(8);
  });

  it('evicts nothing from a node that a person has uncordoned, and is not done when it is empty', async () => {
    const bed = drainBed([drainPod('a')]);
    expect((await bed.step({ node: node('n1') })).state).toBe('NotCordoned');
    bed.pods = [];
    expect((await bed.step({ node: node('n1') })).state).toBe('NotCordoned');
    expect(bed.sent).toEqual([]);
  });

  it('R35 evicts nothing from a dead node, and does not call it drained', async () => {
    const bed = drainBed([drainPod('a')]);
    expect((await bed.step({ kubeletAnswers: false })).state).toBe('Draining');
    const skipped = await bed.step({ kubeletAnswers: false, options: { deadNode: 'Skip' } });
    expect([skipped.state, skipped.progress.pending, bed.sent]).toEqual(['Skipped', 0, []]);
  });

  it('names the pod when it may not read the budgets', async () => {
    const bed = drainBed([drainPod('a', CART)]);
    bed.budgets = [budget('b1', COVERS_CART)];
    bed.budgetsError = new KubeError('Forbidden', 'rbac', { status: 403 });
    const { progress } = await bed.step();
    expect(progress.blocks).toMatchObject([{ kind: 'Pod', name: 'shop/a', because: 'shop/b1 allows none' }]);
  });

  it.each(['before', 'after'] as const)(
    'R35 never evicts a pod twice when any one call is lost %s the server handles it, and the process restarts',
    async (when) => {
      const names = ['a', 'b', 'c', 'd', 'e'];
      // A list of the pods, five evictions, and a list of the budgets.
      for (let n = 1; n <= 7; n += 1) {
        const bed = drainBed(names.map((name) => drainPod(name, name === 'b' ? CART : {})));
        bed.budgets = [budget('b1', COVERS_CART)];
        bed.loseCall(n, when);
        await expect(bed.step()).rejects.toMatchObject({ code: 'Unreachable' });
        bed.allowed.set('shop/b1', 1);
        await bed.step();
        expect(bed.accepted.toSorted()).toEqual(names.map((name) => `uid-${name}`));
        bed.pods = [];
        expect((await bed.step()).state).toBe('Drained');
      }
    },
  );
});
