import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { objectKey } from '../../../../src/kube/objects/object-id.ts';
import type { PrunePlan } from '../../../../src/sync/apply/prune/plan.ts';
import { withDeleteOrder } from '../../../../src/sync/apply/unit-order/delete-order.ts';
import { dependsOn } from '../../unit-order/fixtures.ts';
import { applyInput, configMap, entry, live } from '../fixtures.ts';

interface Removal {
  readonly unit: string;
  readonly needs?: string;
  readonly action?: PrunePlan['action'];
  readonly keptByOthers?: true;
  /** It is not in the cluster any more. */
  readonly absent?: true;
}

function orderOf(removals: readonly Removal[], declared: Record<string, string> = {}): string[] {
  const objects = removals.map(({ unit, needs }, index): KubeObject => {
    const object = configMap(`${unit}-${index}`);
    return needs === undefined ? object : dependsOn(object, needs);
  });
  const prune = removals.map(
    ({ unit, action = 'delete', keptByOthers }, index): PrunePlan => ({
      action,
      entry: entry(objects[index] ?? configMap('x'), { unit }),
      because: 'removed from git',
      ...(keptByOthers ? { keptByOthers } : {}),
    }),
  );
  const cluster = objects.filter((_, index) => !removals[index]?.absent).map((object) => live(object));
  const dependencies = new Map(Object.entries(declared).map(([unit, name]) => [unit, new Set([name])]));
  return withDeleteOrder(prune, dependencies, applyInput({ cluster })).map(
    ({ action, entry: which, keptByOthers }) =>
      `${action} ${objectKey(which).replace('ConfigMap default/', '')}${keptByOthers ? ' kept' : ''}`,
  );
}

describe('withDeleteOrder', () => {
  it.each<
    [
      name: string,
      removals: readonly Removal[],
      expected: readonly string[],
      declared?: Record<string, string>,
    ]
  >([
    [
      'deletes units without dependencies at once',
      [{ unit: 'db' }, { unit: 'web' }],
      ['delete db-0', 'delete web-1'],
    ],
    [
      'deletes a unit before the one that it depends on',
      [{ unit: 'db' }, { unit: 'web', needs: 'db' }],
      ['after db-0', 'delete web-1'],
    ],
    [
      'deletes a chain from its end, also where the unit between has nothing to delete',
      [{ unit: 'net' }, { unit: 'app', needs: 'db' }],
      ['after net-0', 'delete app-1'],
      { db: 'net' },
    ],
    [
      'knows the order of removed objects from what git still declares',
      [{ unit: 'db' }, { unit: 'web' }],
      ['after db-0', 'delete web-1'],
      { web: 'db' },
    ],
    [
      'waits for an object that is being deleted',
      [
        { unit: 'db', action: 'mark' },
        { unit: 'web', needs: 'db', action: 'confirm' },
      ],
      ['after db-0', 'confirm web-1'],
    ],
    [
      'waits for no object that is deleted already',
      [{ unit: 'db' }, { unit: 'web', action: 'confirm', absent: true }],
      ['delete db-0', 'confirm web-1'],
      { web: 'db' },
    ],
    [
      'waits for deletes that a person has to acknowledge or resume',
      [
        { unit: 'db' },
        { unit: 'web', needs: 'db', action: 'held' },
        { unit: 'app', needs: 'db', action: 'paused' },
      ],
      ['after db-0', 'held web-1', 'paused app-2'],
    ],
    [
      'waits for no object that stays',
      [
        { unit: 'db' },
        { unit: 'web', needs: 'db', action: 'keep' },
        { unit: 'app', needs: 'db', action: 'release' },
      ],
      ['delete db-0', 'keep web-1', 'release app-2'],
    ],
    [
      'lets no commit wait for what only finalizers of others keep',
      [{ unit: 'db' }, { unit: 'web', needs: 'db', action: 'confirm', keptByOthers: true }],
      ['after db-0 kept', 'confirm web-1 kept'],
    ],
    [
      'lets a commit wait if one object is not kept by others',
      [
        { unit: 'db' },
        { unit: 'web', needs: 'db', action: 'confirm', keptByOthers: true },
        { unit: 'web', needs: 'db' },
      ],
      ['after db-0', 'confirm web-1 kept', 'delete web-2'],
    ],
    [
      'deletes units that depend on each other by two commits',
      [
        { unit: 'db', needs: 'web' },
        { unit: 'web', needs: 'db' },
      ],
      ['delete db-0', 'delete web-1'],
    ],
    [
      'leaves a held delete held, so that its digest is shown',
      [
        { unit: 'db', action: 'held' },
        { unit: 'web', needs: 'db' },
      ],
      ['held db-0', 'delete web-1'],
    ],
  ])('S13 deletes in the order of units: %s', (_, removals, expected, declared) => {
    expect(orderOf(removals, declared)).toEqual(expected);
  });

  it('S13 names the object that is deleted first', () => {
    const objects = [configMap('db'), dependsOn(configMap('web'), 'db')];
    const [db, web] = objects.map((object, index) => entry(object, { unit: index === 0 ? 'db' : 'web' }));
    if (!db || !web) throw new Error('two entries are expected');
    const prune = [db, web].map((each): PrunePlan => ({ action: 'delete', entry: each, because: '' }));
    const input = applyInput({ cluster: objects.map((object) => live(object)) });
    expect(withDeleteOrder(prune, new Map(), input)[0]?.because).toBe(
      'deleted after ConfigMap default/web of unit web, which depends on unit db',
    );
  });
});
