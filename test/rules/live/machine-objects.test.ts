import { describe, expect, it } from 'vitest';
import { createStore } from '../../../src/kube/cache/store.ts';
import { followMachineObjects } from '../../../src/rules/live/machine-objects.ts';
import { createFactViews, mapFactViews } from '../../../src/rules/views.ts';
import { maintenanceEvent } from '../../support/maintenance.ts';
import { memoryLog } from '../../support/memory-log.ts';

describe('followMachineObjects', () => {
  it('has the objects of each machine as they are now, and forgets those that are deleted', () => {
    const { stores, views } = createViews();
    const first = maintenanceEvent({ name: 'a', machine: 'm-1' });
    const second = maintenanceEvent({ name: 'c', machine: 'm-1' });
    const later = maintenanceEvent({
      name: 'a',
      machine: 'm-1',
      state: 'Executing',
      metadata: { resourceVersion: '2' },
    });
    const other = maintenanceEvent({ name: 'b', machine: 'm-2' });
    stores.maintenance.put(first);
    const changes: unknown[] = [];
    const followed = followMachineObjects(views, (...change) => changes.push(change));
    for (const event of [second, other, later]) stores.maintenance.put(event);
    const before = followed.of('m-1');
    expect(before).toMatchObject({ jobs: [], maintenance: [later, second] });
    expect(followed.of('m-2').maintenance).toEqual([other]);
    stores.maintenance.remove(second);
    expect(followed.of('m-1').maintenance).toEqual([later]);
    stores.maintenance.remove(later);
    expect(followed.of('m-1').maintenance).toEqual([]);
    expect(before.maintenance).toEqual([later, second]);
    expect(changes).toEqual(
      ['m-1', 'm-1', 'm-2', 'm-1', 'm-1', 'm-1'].map((name) => [name, ['maintenance']]),
    );
    followed.close();
    stores.maintenance.remove(other);
    expect(changes).toHaveLength(6);
  });

  it('moves what was created again for another machine, and tells both', () => {
    const { stores, views } = createViews();
    stores.maintenance.put(maintenanceEvent({ name: 'a', machine: 'm-1' }));
    const changes: unknown[] = [];
    const followed = followMachineObjects(views, (machine) => changes.push(machine));
    const metadata = { uid: 'uid-2', resourceVersion: '2' };
    const again = maintenanceEvent({ name: 'a', machine: 'm-2', metadata });
    changes.length = 0;
    stores.maintenance.put(again);
    expect([followed.of('m-1').maintenance, followed.of('m-2').maintenance]).toEqual([[], [again]]);
    expect(changes).toEqual(['m-1', 'm-2']);
    followed.close();
  });
});

// oxlint-disable-next-line typescript/explicit-function-return-type -- that of the stores is long
function createViews() {
  const stores = mapFactViews(() => createStore({ log: memoryLog() }));
  const freshness = { synced: true, ageMs: 0, lastContactAt: undefined, error: undefined };
  const views = createFactViews((_, view) => ({
    store: stores[view],
    reflector: { freshness: () => freshness },
  }));
  return { stores, views };
}
