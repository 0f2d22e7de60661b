import { expect, it } from 'vitest';
import { digestOf } from '../../../../src/kube/objects/digest.ts';
import type { InventoryEntry } from '../../../../src/sync/apply/inventory/inventory.ts';
import { createAppliedReader } from '../../../../src/sync/apply/ownership/earlier-content.ts';
import type { RenderedTarget } from '../../../../src/sync/rendered.ts';
import { encryptedObject } from '../../../kube/sops/encrypted-files.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { configMap, entry, unit } from '../fixtures.ts';

const a = configMap('a');
const applied = digestOf(a);
const { applied: _, ...intended } = entry(a, { commit: 'c2' });

const CONTENTS: Readonly<Record<string, RenderedTarget>> = {
  c1: { target: 'prod', units: [unit('web', [configMap('b'), a])], digest: 'sha256:1' },
  c2: { target: 'prod', units: [unit('web', [configMap('a', { key: 'new' })])], digest: 'sha256:2' },
};

it.each<[name: string, item: InventoryEntry, expected: unknown]>([
  ['what the server confirmed', entry(a, { commit: 'c1', applied }), a],
  [
    'what the server confirmed before a write was intended',
    { ...intended, before: { commit: 'c1', applied } },
    a,
  ],
  ['nothing while the first write is intended', intended, undefined],
  ['nothing if the commit renders to other content now', entry(a, { commit: 'c2', applied }), undefined],
  ['nothing if the commit cannot be rendered any more', entry(a, { commit: 'c9', applied }), undefined],
])('reads %s', async (_name, item, expected) => {
  const log = memoryLog();
  const read = createAppliedReader(async (commit) => {
    const content = CONTENTS[commit];
    if (!content) throw new Error('gone');
    return content;
  }, log);
  expect(await read(item)).toEqual(expected);
});

it('reads the fields of an encrypted object as they were sent', async () => {
  const secret = encryptedObject('secret.yaml');
  const target = { target: 'prod', units: [unit('web', [secret])], digest: 'sha256:3' };
  const read = createAppliedReader(async () => target, memoryLog());
  const found = await read(entry(secret, { commit: 'c3' }));
  expect(Object.keys(found?.['data'] ?? {}).toSorted()).toEqual(['10', 'a', 'b', 'multi', 'unicode', 'z']);
  expect([found?.['stringData'], found?.['sops']]).toEqual([undefined, undefined]);
});
