import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../../../src/kube/objects/object-id.ts';
import type { ObjectOutcome } from '../../../../src/sync/apply/apply-steps.ts';
import { createConfirmations } from '../../../../src/sync/apply/inventory/confirmations.ts';
import type { InventoryEntry } from '../../../../src/sync/apply/inventory/inventory.ts';
import type { InventoryChange } from '../../../../src/sync/apply/inventory/store.ts';

const COMMIT = 'c'.repeat(40);

function outcome(number: number, state: 'applied' | 'failed' = 'applied'): ObjectOutcome {
  const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `map-${number}` } };
  const plan = { id: objectIdOf(object), unit: 'web', object, digest: `sha256:${number}` };
  return { state, plan, uid: `uid-${number}`, adopted: false } as unknown as ObjectOutcome;
}

/** An inventory and an audit record whose writes end when the test lets them. */
function createBed({ fails }: { readonly fails?: (what: string) => boolean } = {}) {
  const journal: string[] = [];
  const entries = new Map<string, InventoryEntry>();
  let gate = Promise.withResolvers<void>();
  let isOpen = true;
  async function act(what: string): Promise<void> {
    journal.push(`${what} begins`);
    if (!isOpen) await gate.promise;
    if (fails?.(what)) throw new Error(`${what} failed`);
    journal.push(`${what} ends`);
  }
  const confirmations = createConfirmations({
    commit: COMMIT,
    audit: {
      applied: (outcomes) => act(`audit ${[...outcomes].length}`),
      removed: () => Promise.resolve(),
    },
    store: {
      inventory: () => ({ clusterUID: 'u1', entries, spent: [] }),
      async write({ add }: InventoryChange) {
        await act(`inventory ${add.length}`);
        for (const entry of add) entries.set(objectKey(entry), entry);
      },
    },
  });
  const add = (from: number, count: number): void => {
    for (let number = from; number < from + count; number += 1) confirmations.add(outcome(number));
  };
  return {
    confirmations,
    journal,
    entries,
    add,
    hold: () => void ([gate, isOpen] = [Promise.withResolvers<void>(), false]),
    open,
  };

  function open(): void {
    isOpen = true;
    gate.resolve();
  }
}

function recordedBatch(size: number): readonly string[] {
  return ['audit', 'inventory'].flatMap((what) => [`${what} ${size} begins`, `${what} ${size} ends`]);
}

describe('S1 what the server confirmed', () => {
  it('is recorded at the end, first for audit, and then in the inventory', async () => {
    const { confirmations, journal, entries, add } = createBed();
    add(0, 2);
    confirmations.add(outcome(2, 'failed'));
    await new Promise((resolve) => void setImmediate(resolve));
    expect(journal).toEqual([]);
    await confirmations.finish();
    expect(journal).toEqual(['audit 3 begins', 'audit 3 ends', 'inventory 2 begins', 'inventory 2 ends']);
    expect(entries.get('ConfigMap map-1')).toEqual({
      group: '',
      version: 'v1',
      kind: 'ConfigMap',
      namespace: '',
      name: 'map-1',
      unit: 'web',
      commit: COMMIT,
      applied: 'sha256:1',
      uid: 'uid-1',
    });
  });

  it('is recorded while others are written, each batch of thousand after the one before', async () => {
    const { confirmations, journal, add, hold, open } = createBed();
    hold();
    add(0, 2500);
    await expect.poll(() => journal).toEqual(['audit 1000 begins']);
    open();
    await confirmations.finish();
    expect(journal).toEqual([1000, 1000, 500].flatMap(recordedBatch));
  });

  it('is not written again where the inventory has it', async () => {
    const { confirmations, journal, add } = createBed();
    add(0, 3);
    await confirmations.finish();
    add(0, 4);
    await confirmations.finish();
    expect(journal.filter((each) => each.startsWith('inventory') && each.endsWith('ends'))).toEqual([
      'inventory 3 ends',
      'inventory 1 ends',
    ]);
  });

  it.each(['audit 1000', 'inventory 1000'])(
    'stops everything when it cannot be recorded: %s',
    async (what) => {
      const { confirmations, journal, add } = createBed({ fails: (each) => each === what });
      add(0, 2000);
      await expect(confirmations.finish()).rejects.toThrow(`${what} failed`);
      expect(() => confirmations.throwIfFailed()).toThrow(`${what} failed`);
      expect(journal.at(-1)).toBe(`${what} begins`);
      expect(journal.filter((each) => each === `${what} begins`)).toHaveLength(1);
    },
  );

  it('ends with the batch that is in work when the reconcile is aborted', async () => {
    const { confirmations, journal, entries, add, hold, open } = createBed();
    hold();
    add(0, 1500);
    await expect.poll(() => journal).toEqual(['audit 1000 begins']);
    const stopped = confirmations.stop();
    open();
    await stopped;
    expect([entries.size, journal.at(-1)]).toEqual([1000, 'inventory 1000 ends']);
  });
});
