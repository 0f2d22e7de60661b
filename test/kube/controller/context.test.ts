import { describe, expect, it } from 'vitest';
import { type Controller, read } from '../../../src/kube/controller/controller.ts';
import { contentChanged } from '../../../src/kube/controller/predicates.ts';
import type { ReconcileContext } from '../../../src/kube/controller/reconcile-context.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import { ApiRefusal } from '../../../src/sim/api-server/refusal.ts';
import { type ControllerBed, createControllerBed, sweepCrashes } from '../../support/controller/bed.ts';
import { WIDGET_KIND, WIDGETS, type Widget, widget } from '../../support/controller/widgets.ts';

const PODS: Resource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const POD = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n' } };
const OURS = 'test.kubenode.dev/ours';

type Step = (context: ReconcileContext, live: Widget | undefined) => Promise<unknown>;

/** One controller that does this in each reconcile of `a`; what it throws is collected. */
function bed(
  step: Step,
  change: Partial<Controller> = {},
  more: Partial<Parameters<typeof createControllerBed>[0]> = {},
): ControllerBed & { readonly errors: unknown[]; readonly reconciles: () => number } {
  const errors: unknown[] = [];
  let count = 0;
  const controller: Controller = {
    name: 'sizer',
    reads: [read(WIDGETS, { changed: contentChanged })],
    writes: ['Widget.spec.size', 'Widget.status.phase'],
    fieldManager: 'sizer',
    reconcile: async (key, context) => {
      count += 1;
      try {
        await step(context, context.view(WIDGETS).get(key));
      } catch (error) {
        errors.push(error);
      }
      return {};
    },
    ...change,
  };
  const kinds = [WIDGET_KIND, { resource: PODS }];
  const made = createControllerBed({ controllers: [controller], kinds, objects: [widget('a')], ...more });
  return { ...made, errors, reconciles: () => count };
}

function size(context: ReconcileContext, value: number): Promise<Widget> {
  return context.apply(WIDGETS, { metadata: { name: 'a' }, spec: { size: value } });
}

function phase(value: string): { metadata: { name: string }; status: { phase: string } } {
  return { metadata: { name: 'a' }, status: { phase: value } };
}

function evicting(outcomes: unknown[]): Step {
  return async (context) => outcomes.push(await context.evict(POD));
}

function createNew(context: ReconcileContext): Promise<unknown> {
  return context.apply(WIDGETS, { metadata: { name: 'new' }, spec: { size: 1 } });
}

function mistaken(): boolean {
  throw new Error('a mistake');
}

describe('context.apply', () => {
  it('writes declared fields under the name of the controller, of the very object that was read', async () => {
    const { api, get, start, errors } = bed((context) => size(context, 3));
    await start();
    expect(errors).toEqual([]);
    expect(get(WIDGETS, 'a')?.spec).toEqual({ size: 3 });
    expect(api.journal[0]).toMatchObject({ what: 'apply Widget a', body: { metadata: { uid: 'uid-1' } } });
    expect(get(WIDGETS, 'a')?.metadata.managedFields).toContainEqual({
      manager: 'sizer',
      operation: 'Apply',
      fieldsV1: { 'f:spec': { 'f:size': {} } },
    });
  });

  it('sends nothing when nothing would change', async () => {
    const { advance, apply, reconciles, start, writes } = bed((context) => size(context, 3));
    await start();
    expect(writes()).toEqual(['apply Widget a']);
    const before = reconciles();
    apply(widget('a', { owner: 'somebody' }));
    await advance(1000);
    expect(reconciles()).toBeGreaterThan(before);
    expect(writes()).toEqual([]);
  });

  it('is visible to the next read, before any watch delivers it', async () => {
    const sizes: unknown[] = [];
    const { start } = bed(async (context) => {
      await size(context, 3);
      sizes.push(context.view(WIDGETS).get('a')?.spec.size);
    });
    await start();
    expect(sizes[0]).toBe(3);
  });

  it('refuses a field that is not declared, naming controller, kind and field, and sends nothing', async () => {
    const { errors, start, writes } = bed((context) =>
      context.apply(WIDGETS, { metadata: { name: 'a' }, spec: { size: 1, owner: 'us' } }),
    );
    await start();
    expect(String(errors[0])).toBe(
      'UndeclaredWrite: controller sizer may not write Widget.spec.owner: not declared. Add it to its writes, or leave it out',
    );
    expect(writes()).toEqual([]);
  });

  it('refuses a status, which the API server would ignore', async () => {
    const { errors, start } = bed((context) =>
      context.apply(WIDGETS, { metadata: { name: 'a' }, status: { phase: 'x' } }),
    );
    await start();
    expect(String(errors[0])).toContain('Use applyStatus');
  });

  it('creates only what the controller declared to create', async () => {
    const refused = bed(createNew);
    await refused.start();
    expect(String(refused.errors[0])).toContain('may not create Widget');
    const allowed = bed(createNew, { creates: ['Widget'] });
    await allowed.start();
    expect(allowed.get(WIDGETS, 'new')?.spec).toEqual({ size: 1 });
  });

  it('does not create an object again that was deleted since it was read', async () => {
    const { errors, get, start, ...made } = bed(async (context) => {
      made.api.objects.delete(WIDGET_KIND, { name: 'a' }, {});
      await size(context, 3);
    });
    await start();
    expect(errors[0]).toMatchObject({ code: 'Conflict' });
    expect(get(WIDGETS, 'a')).toBeUndefined();
  });

  it('is sent when it is conditional, also when nothing would change', async () => {
    const { errors, start } = bed(async (context, live) => {
      await size(context, 3);
      const { name, resourceVersion = '' } = live?.metadata ?? { name: '' };
      await context.apply(WIDGETS, { metadata: { name, resourceVersion }, spec: { size: 3 } });
    });
    await start();
    expect(errors[0]).toMatchObject({ code: 'Conflict' });
  });

  it('is conditional on the version that the intent names', async () => {
    const { apply, errors, start } = bed(async (context, live) => {
      apply(widget('a', { owner: 'somebody' }));
      const { name, resourceVersion = '' } = live?.metadata ?? { name: '' };
      await context.apply(WIDGETS, { metadata: { name, resourceVersion }, spec: { size: 3 } });
    });
    await start();
    expect(errors[0]).toMatchObject({ code: 'Conflict' });
  });
});

describe('context.applyStatus and reportStatus', () => {
  it('write the status, and nothing that is not declared', async () => {
    const { errors, get, start } = bed(async (context) => {
      await context.applyStatus(WIDGETS, phase('Ready'));
      await context.applyStatus(WIDGETS, { metadata: { name: 'a' }, status: { conditions: [] } });
    });
    await start();
    expect(get(WIDGETS, 'a')?.status).toEqual({ phase: 'Ready' });
    expect(String(errors[0])).toContain('may not write Widget.status.conditions');
  });

  it('reject with NotFound for an object that is not in the view, without a request', async () => {
    const { errors, start, writes } = bed((context) =>
      context.applyStatus(WIDGETS, { metadata: { name: 'missing' }, status: { phase: 'x' } }),
    );
    await start();
    expect(errors[0]).toMatchObject({ code: 'NotFound' });
    expect(writes()).toEqual([]);
  });

  it('reports within a second become one write with the last content', async () => {
    const { advance, get, start, writes } = bed(
      async (context) => {
        for (const value of ['one', 'two', 'three']) context.reportStatus(WIDGETS, phase(value));
      },
      { reads: [read(WIDGETS, { changed: () => false })] },
    );
    await start();
    await advance(10_000);
    expect(writes()).toEqual(['apply Widget a status']);
    expect(get(WIDGETS, 'a')?.status).toEqual({ phase: 'three' });
  });

  it('a status that is written directly replaces a report that is pending', async () => {
    const { advance, get, start, writes } = bed(
      async (context) => {
        context.reportStatus(WIDGETS, phase('one'));
        await context.applyStatus(WIDGETS, phase('two'));
      },
      { reads: [read(WIDGETS, { changed: () => false })] },
    );
    await start();
    await advance(5000);
    expect(get(WIDGETS, 'a')?.status).toEqual({ phase: 'two' });
    expect(writes()).toEqual(['apply Widget a status']);
  });

  it('a report of what is not declared throws in the reconcile itself', async () => {
    const { errors, start } = bed(async (context) =>
      context.reportStatus(WIDGETS, { metadata: { name: 'a' }, status: { conditions: [] } }),
    );
    await start();
    expect(String(errors[0])).toContain('may not write Widget.status.conditions');
  });

  it('a report that is pending when the process stops is written before it ends', async () => {
    let now = 'one';
    const { advance, apply, get, start } = bed(
      async (context) => {
        context.reportStatus(WIDGETS, phase(now));
        now = 'two';
      },
      {},
      { lease: true },
    );
    const process = await start();
    await advance(100);
    expect(get(WIDGETS, 'a')?.status).toEqual({ phase: 'one' });
    apply(widget('a', { owner: 'somebody' }));
    await advance(100);
    expect(get(WIDGETS, 'a')?.status).toEqual({ phase: 'one' });
    await process.stop();
    expect(get(WIDGETS, 'a')?.status).toEqual({ phase: 'two' });
  });

  it('a report that fails requeues its key', async () => {
    const { advance, api, get, reconciles, start } = bed(async (context) =>
      context.reportStatus(WIDGETS, phase('x')),
    );
    api.refuse(/status/, new ApiRefusal(500, 'InternalError', 'no'));
    await start();
    await advance(5000);
    expect(reconciles()).toBeGreaterThan(1);
    expect(get(WIDGETS, 'a')?.status).toEqual({ phase: 'x' });
  });
});

describe('context.patch and finalizers', () => {
  const FINALIZER = { writes: [`Widget.metadata.finalizers[${OURS}]`] };

  it('a patch tests the uid, and the version where it has no test of its own', async () => {
    const { api, errors, start } = bed(async (context, live) => {
      if (live?.spec.size === 1) return;
      await context.patch(WIDGETS, live ?? widget('a'), [{ op: 'add', path: '/spec/size', value: 1 }]);
    });
    await start();
    expect(errors).toEqual([]);
    expect(api.journal[0]?.body).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'uid-1' },
      { op: 'test', path: '/metadata/resourceVersion', value: '101' },
      { op: 'add', path: '/spec/size', value: 1 },
    ]);
  });

  it('a patch of an object that changed since it was read is a conflict', async () => {
    const { apply, errors, start } = bed(async (context, live) => {
      apply(widget('a', { owner: 'somebody' }));
      await context.patch(WIDGETS, live ?? widget('a'), [{ op: 'add', path: '/spec/size', value: 7 }]);
    });
    await start();
    expect(errors[0]).toMatchObject({ code: 'Conflict', status: 422 });
  });

  it('a patch that makes the object invalid stays what it is', async () => {
    const causes = [{ reason: 'FieldValueInvalid', field: 'spec.size' }];
    const { api, errors, start } = bed((context, live) =>
      context.patch(WIDGETS, live ?? widget('a'), [{ op: 'add', path: '/spec/size', value: -1 }]),
    );
    api.refuse(/^patch Widget a/, new ApiRefusal(422, 'Invalid', 'must be positive', causes));
    await start();
    expect(errors[0]).toMatchObject({ code: 'Invalid' });
  });

  it('a patch of a field that is not declared is refused', async () => {
    const { errors, start, writes } = bed((context, live) =>
      context.patch(WIDGETS, live ?? widget('a'), [{ op: 'remove', path: '/spec/owner' }]),
    );
    await start();
    expect(String(errors[0])).toContain('may not write Widget.spec.owner');
    expect(writes()).toEqual([]);
  });

  it('a finalizer is added once, and removed where it is', async () => {
    const left: unknown[] = [];
    const { advance, errors, get, start, writes, ...made } = bed(async (context, live) => {
      if (!live) return;
      if (live.metadata.deletionTimestamp === undefined) {
        await context.addFinalizer(WIDGETS, live, OURS);
      } else {
        await context.removeFinalizer(WIDGETS, live, OURS);
        left.push(context.view(WIDGETS).get('a'));
      }
    }, FINALIZER);
    await start();
    expect(get(WIDGETS, 'a')?.metadata.finalizers).toEqual([OURS]);
    expect(writes()).toEqual(['patch Widget a']);
    made.delete(WIDGETS, 'a');
    await advance(1000);
    expect([get(WIDGETS, 'a'), errors, left, writes()]).toEqual([
      undefined,
      [],
      [undefined],
      ['patch Widget a'],
    ]);
  });

  it('a finalizer that is not declared is refused', async () => {
    const { errors, start } = bed((context, live) =>
      context.addFinalizer(WIDGETS, live ?? widget('a'), OURS),
    );
    await start();
    expect(String(errors[0])).toContain('may not write Widget.metadata.finalizers');
  });
});

describe('context.create and delete', () => {
  it('create and delete only declared kinds', async () => {
    const { errors, start, writes } = bed(async (context, live) => {
      await context
        .create(WIDGETS, { metadata: { name: 'b' }, spec: { size: 1 } })
        .catch((error) => errors.push(error));
      await context.delete(WIDGETS, live ?? widget('a'));
    });
    await start();
    expect(errors.map(String)).toEqual([
      expect.stringContaining('may not create Widget'),
      expect.stringContaining('may not delete Widget'),
    ]);
    expect(writes()).toEqual([]);
  });

  it('are visible to the next read', async () => {
    const names: string[][] = [];
    const { start } = bed(
      async (context, live) => {
        if (!live) return;
        await context.create(WIDGETS, { metadata: { name: 'b' }, spec: { size: 1 } });
        expect(await context.delete(WIDGETS, live)).toBe('Deleted');
        names.push(
          context
            .view(WIDGETS)
            .list()
            .map(({ metadata }) => metadata.name),
        );
      },
      { creates: ['Widget'], deletes: ['Widget'], concurrency: 1 },
    );
    await start();
    expect(names[0]).toEqual(['b']);
  });

  it('delete reports Deleting while finalizers keep the object, and Deleted when it does not exist', async () => {
    const outcomes: string[] = [];
    const kept = { ...widget('a'), metadata: { name: 'a', finalizers: ['x/theirs'] } };
    const { start } = bed(
      async (context, live) => {
        if (!live) return;
        outcomes.push(await context.delete(WIDGETS, live));
        outcomes.push(String(context.view(WIDGETS).get('a')?.metadata.deletionTimestamp !== undefined));
        outcomes.push(
          await context.delete(WIDGETS, { ...live, metadata: { ...live.metadata, name: 'gone' } }),
        );
      },
      { deletes: ['Widget'], reads: [read(WIDGETS, { changed: () => false })] },
      { objects: [kept] },
    );
    await start();
    expect(outcomes).toEqual(['Deleting', 'true', 'Deleted']);
  });

  it('delete may be conditional on the version that was read', async () => {
    const { apply, errors, get, start } = bed(
      async (context, live) => {
        apply(widget('a', { owner: 'somebody' }));
        await context.delete(WIDGETS, live ?? widget('a'), { unchanged: true });
      },
      { deletes: ['Widget'], reads: [read(WIDGETS, { changed: () => false })] },
    );
    await start();
    expect(errors).toMatchObject([{ code: 'Conflict' }]);
    expect(get(WIDGETS, 'a')).toBeDefined();
  });
});

describe('context.evict', () => {
  it('answers what a disruption budget refuses, and when to ask again', async () => {
    const outcomes: unknown[] = [];
    const { api, start } = bed(evicting(outcomes), { evicts: true }, { objects: [widget('a'), POD] });
    const budget = { reason: 'DisruptionBudget', message: 'The disruption budget web needs 1 healthy pod' };
    api.refuse(/eviction/, new ApiRefusal(429, 'TooManyRequests', 'Cannot evict pod', [budget], 10));
    await start();
    expect(outcomes).toEqual([{ evicted: false, because: budget.message, retryAfterSeconds: 10 }]);
  });

  it('evicts', async () => {
    const outcomes: unknown[] = [];
    const { start, writes } = bed(evicting(outcomes), { evicts: true }, { objects: [widget('a'), POD] });
    await start();
    expect([outcomes, writes()]).toEqual([[{ evicted: true }], ['create Pod p eviction']]);
  });

  it('is refused to a controller that does not declare it', async () => {
    const { errors, start, writes } = bed(evicting([]));
    await start();
    expect(String(errors[0])).toContain('may not evict Pods');
    expect(writes()).toEqual([]);
  });
});

describe('a context', () => {
  it('has no client in it, and reads only what is declared', async () => {
    const members: string[] = [];
    const { errors, start } = bed(async (context) => {
      members.push(...Object.keys(context));
      context.view(PODS);
    });
    await start();
    expect(members.toSorted()).toEqual([
      'addFinalizer',
      'ageMs',
      'apply',
      'applyStatus',
      'clock',
      'create',
      'delete',
      'epoch',
      'event',
      'evict',
      'log',
      'patch',
      'removeFinalizer',
      'reportStatus',
      'signal',
      'view',
    ]);
    expect(String(errors[0])).toContain('controller sizer does not read Pod');
  });

  it('shares objects that no controller may change: in the bed that throws', async () => {
    const { errors, start } = bed(async (_, live) => {
      Object.assign(live?.spec ?? {}, { size: 9 });
    });
    await start();
    expect(errors[0]).toBeInstanceOf(TypeError);
  });

  it('records Events in the name of the controller', async () => {
    const { advance, api, start } = bed(async (context, live) => {
      context.event(live ?? widget('a'), { type: 'Normal', reason: 'Sized', action: 'Size', note: 'is 3' });
    });
    await start();
    await advance(1000);
    const [event] = api.objects.list({ resource: EVENTS }, undefined);
    expect(event).toMatchObject({
      reason: 'Sized',
      reportingController: 'test/sizer',
      regarding: { name: 'a' },
    });
  });

  it('tells ages of objects and of the parts that are declared, by our own clock', async () => {
    const ages: unknown[] = [];
    const reads = [read(WIDGETS, { ages: { size: ({ spec }) => spec.size } })];
    const { advance, apply, errors, start } = bed(
      async (context) => {
        ages.push([context.ageMs(WIDGETS, 'a'), context.ageMs(WIDGETS, 'a', 'size')]);
        context.ageMs(WIDGETS, 'a', 'owner');
      },
      { reads },
    );
    await start();
    await advance(5000);
    apply(widget('a', { owner: 'somebody' }));
    await advance(0);
    expect(ages).toEqual([
      [0, 0],
      [0, 5000],
    ]);
    expect(String(errors[0])).toContain("tracks no age 'owner' of Widget");
  });
});

describe('the runtime', () => {
  it('does not reconcile upon heartbeats', async () => {
    const { advance, api, reconciles, start } = bed(async () => {});
    await start();
    const beat = (time: string): void => {
      const status = { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: time }] };
      api.objects.apply(WIDGET_KIND, { ...widget('a'), status }, { manager: 'x', subresource: 'status' });
    };
    beat('12:00');
    await advance(0);
    const before = reconciles();
    beat('12:01');
    await advance(1000);
    expect(reconciles()).toBe(before);
  });

  it('reconciles when a predicate throws, rather than lose a change', async () => {
    const { advance, apply, log, reconciles, start } = bed(async () => {}, {
      reads: [read(WIDGETS, { changed: mistaken })],
    });
    await start();
    apply(widget('a', { size: 7 }));
    await advance(0);
    expect(reconciles()).toBe(2);
    expect(log.lines.map(({ message }) => message)).toContain('predicate failed');
  });

  it('puts an urgent requeue ahead of keys that wait', async () => {
    const { made, order } = slowBed([], (count) => count === 1);
    await made.start();
    for (const name of ['a', 'b', 'c', 'd', 'e']) made.apply(widget(name));
    await made.advance(10_000);
    expect(order).toEqual(['a', 'b', 'c', 'a', 'd', 'e']);
  });

  it('puts what changes ahead of what the initial list brings', async () => {
    const { made, order } = slowBed(['a', 'b', 'c'], () => false);
    await made.start();
    made.apply(widget('c', { size: 2 }));
    await made.advance(10_000);
    expect(order).toEqual(['a', 'c', 'b']);
  });

  it('writes as the ServiceAccount of the controller', async () => {
    const { api, start } = bed((context) => size(context, 3), {
      serviceAccount: { namespace: 'kubenode-system', name: 'kubenode-machine' },
    });
    await start();
    expect(api.journal[0]?.user).toBe('system:serviceaccount:kubenode-system:kubenode-machine');
  });

  it('sends no write once the lease is late, before it is lost', async () => {
    const { advance, api, clock, errors, start, writes } = bed(
      async (context) => {
        // Longer than the lease is valid without a renewal.
        await waiting(10_500);
        await size(context, 3);
      },
      {},
      { lease: true },
    );
    const waiting = (ms: number): Promise<void> => clock.sleep(ms);
    const process = await start();
    const renewals = setRefusals(api);
    await advance(20_000);
    renewals();
    await expect(process.ended).rejects.toMatchObject({ name: 'LeaseLost' });
    expect(errors[0]).toMatchObject({ code: 'Aborted' });
    expect(writes()).toEqual([]);
  });

  it('sends no write right after a standstill, when the lease is late and its loss is not noticed yet', async () => {
    const { clock, errors, start, writes } = bed(
      async (context) => {
        await clock.sleep(1000);
        await size(context, 3);
      },
      {},
      { lease: true },
    );
    await start();
    await clock.stall(11_000);
    expect(errors[0]).toMatchObject({ code: 'Aborted' });
    expect(writes()).toEqual([]);
  });

  it('takes no report of a reconcile that exceeded its time limit', async () => {
    const { advance, clock, errors, start, writes } = bed(
      async (context) => {
        await clock.sleep(2000);
        context.reportStatus(WIDGETS, phase('late'));
      },
      {},
      { options: { reconcileTimeoutMs: 1000 } },
    );
    await start();
    await advance(3000);
    expect(errors[0]).toMatchObject({ code: 'Aborted' });
    expect(writes()).toEqual([]);
  });

  it('sends no write of a reconcile that exceeded its time limit', async () => {
    const { advance, clock, errors, start, writes } = bed(
      async (context) => {
        await waiting(2000);
        await size(context, 3);
      },
      {},
      { options: { reconcileTimeoutMs: 1000 } },
    );
    const waiting = (ms: number): Promise<void> => clock.sleep(ms);
    await start();
    await advance(2500);
    expect(errors[0]).toMatchObject({ code: 'Aborted' });
    expect(writes()).toEqual([]);
  });

  it('ends in the same state wherever it crashes, and leaves no write undone', async () => {
    const controllers: Controller[] = [
      {
        name: 'twin',
        reads: [read(WIDGETS)],
        writes: ['Widget.spec', 'Widget.status.phase', `Widget.metadata.finalizers[${OURS}]`],
        creates: ['Widget'],
        fieldManager: 'twin',
        reconcile: async (key, context) => {
          const live = context.view(WIDGETS).get(key);
          if (!live || key.endsWith('-twin')) return {};
          await context.addFinalizer(WIDGETS, live, OURS);
          await context.apply(WIDGETS, { metadata: { name: `${key}-twin` }, spec: { size: 1 } });
          await context.applyStatus(WIDGETS, { metadata: { name: key }, status: { phase: 'Paired' } });
          return {};
        },
      },
    ];
    const crashes = await sweepCrashes(
      { controllers, kinds: [WIDGET_KIND], objects: [widget('a')] },
      (made, crash) => {
        const { status, metadata } = made.get(WIDGETS, 'a') ?? widget('a');
        const twin = made.get(WIDGETS, 'a-twin')?.spec;
        expect({ crash, status, finalizers: metadata.finalizers, twin }).toEqual({
          crash,
          status: { phase: 'Paired' },
          finalizers: [OURS],
          twin: { size: 1 },
        });
      },
    );
    expect(crashes).toBe(3);
  });
});

/** One reconcile at a time, of a second each; `urgent` tells whether the n-th asks for an urgent requeue after 1.5 s. */
function slowBed(
  names: readonly string[],
  urgent: (count: number) => boolean,
): { readonly made: ControllerBed; readonly order: string[] } {
  const order: string[] = [];
  const controller: Controller = {
    name: 'slow',
    reads: [read(WIDGETS)],
    writes: ['Widget.spec.size'],
    fieldManager: 'slow',
    concurrency: 1,
    reconcile: async (key, { clock }) => {
      order.push(key);
      const isUrgent = urgent(order.length);
      await made.clock.sleep(1000);
      return isUrgent ? { requeueAt: new Date(clock.now().getTime() + 1500), urgent: true } : {};
    },
  };
  const objects = names.map((name) => widget(name));
  const made = createControllerBed({ controllers: [controller], kinds: [WIDGET_KIND], objects });
  return { made, order };
}

/** No renewal of the lease is accepted from now on, until the function is called. */
function setRefusals(api: ControllerBed['api']): () => void {
  for (let n = 0; n < 20; n += 1) api.refuse(/Lease/, new ApiRefusal(500, 'InternalError', 'no'));
  return () => expect(api.objects.list({ resource: LEASES }, undefined)).toHaveLength(1);
}
