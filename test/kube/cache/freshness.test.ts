import { expect, it } from 'vitest';
import { MAX_VIEW_AGE_MS, staleReason } from '../../../src/kube/cache/freshness.ts';
import type { Freshness } from '../../../src/kube/cache/reflector.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { NOW } from '../../support/virtual-clock.ts';

const FRESH: Freshness = { synced: true, lastContactAt: NOW, ageMs: 0, error: undefined };
const DOWN = new KubeError('Unreachable', 'connection refused');

it.each<[name: string, freshness: Partial<Freshness>, reason: string | undefined]>([
  ['a fresh view', {}, undefined],
  ['a view at its limit', { ageMs: MAX_VIEW_AGE_MS }, undefined],
  ['one past it', { ageMs: MAX_VIEW_AGE_MS + 1 }, 'Node: no contact with the API server for 150 s'],
  [
    'one past it, with an error',
    { ageMs: 200_000, error: DOWN },
    'Node: no contact with the API server for 200 s: connection refused',
  ],
  ['a young view with an error', { ageMs: 1000, error: DOWN }, undefined],
  ['one without its first list', { synced: false, ageMs: Infinity }, 'Node: initial list not complete'],
])('%s', (_, freshness, reason) => {
  expect(staleReason({ ...FRESH, ...freshness }, 'Node')).toBe(reason);
});
