import { expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import type { Store } from '../../../src/kube/cache/store.ts';
import { createView, type View, type ViewOptions } from '../../../src/kube/cache/view.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSmallServer, type SmallServer, THINGS } from '../../support/kube/small-server.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { settle, virtualClock } from '../../support/virtual-clock.ts';

interface Bed {
  readonly view: View;
  readonly server: SmallServer;
}

async function bed(options: Partial<ViewOptions<KubeObject>> = {}): Promise<Bed> {
  const clock = virtualClock();
  const server = createSmallServer(clock);
  server.put('listed');
  // The watch delivers nothing, so that what is there was stored from an answer.
  server.watchFaults.push({ fault: 'freeze' });
  const view = createView({
    client: server,
    resource: THINGS,
    clock,
    random: () => 0,
    log: memoryLog(),
    ...options,
  });
  const stop = new AbortController();
  const running = view.reflector.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  await settle();
  return { view, server };
}

function names({ view }: Bed): string[] {
  return view.store.list().map(({ metadata }) => metadata.name);
}

it('shows a write before the watch delivers it', async () => {
  const all = await bed();
  all.view.wrote(all.server.put('written'));
  expect(names(all)).toEqual(['listed', 'written']);
});

it('shows a deletion before the watch delivers it', async () => {
  const all = await bed();
  all.view.deleted(all.view.store.get('listed') as KubeObject);
  expect(names(all)).toEqual([]);
});

it('does not replace what is newer by an answer that was overtaken', async () => {
  const { view, server } = await bed();
  const older = server.put('thing', { size: 1 });
  view.wrote(server.put('thing', { size: 2 }));
  view.wrote(older);
  expect(view.store.get('thing')).toMatchObject({ size: 2 });
});

it('stores nothing before the first list, so that a part never looks like the whole', () => {
  const clock = virtualClock();
  const server = createSmallServer(clock);
  const view = createView({ client: server, resource: THINGS, clock, random: () => 0, log: memoryLog() });
  view.wrote(server.put('written'));
  expect(view.store.list()).toEqual([]);
});

it.each<[name: string, selection: Partial<ViewOptions<KubeObject>>]>([
  ['of another namespace', { namespace: 'ours' }],
  ['that a label selector may not select', { labelSelector: 'a=b' }],
  ['that a field selector may not select', { fieldSelector: 'metadata.name=listed' }],
])('stores no answer %s', async (_, selection) => {
  const all = await bed(selection);
  all.view.wrote(all.server.put('written'));
  expect(names(all)).toEqual(['listed']);
});

it('keeps the managedFields of the named managers, of answers too', async () => {
  const { view, server } = await bed({ managers: ['ours'] });
  const managedFields = ['ours', 'theirs'].map((manager) => ({ manager, operation: 'Apply' as const }));
  const { metadata, ...rest } = server.put('written');
  view.wrote({ ...rest, metadata: { ...metadata, managedFields } });
  expect(view.store.get('written')?.metadata.managedFields).toEqual([managedFields[0]]);
});

it('knows the type of its objects from the resource', () => {
  expectTypeOf(createView<Machine>)
    .returns.toHaveProperty('store')
    .toEqualTypeOf<Store<Machine>>();
  expectTypeOf(MACHINES).toExtend<ViewOptions<Machine>['resource']>();
});
