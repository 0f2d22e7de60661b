import { expect, it } from 'vitest';
import type { Machine } from '../../../src/api/generated/types.ts';
import { setViewsWith, withoutGuards } from '../../../src/sim/machines/breakage.ts';
import { machine } from '../../support/builders.ts';

it('hides holds from the set, and takes the guard of the Defender out, only when that is broken', () => {
  const held = machine('m-1', { spec: { hold: { reason: 'debugging', scope: 'All' } } });
  const views = { Machine: { store: { list: () => [held] } } } as never;
  const holds = (broken?: 'HoldIgnored' | 'GrantIgnored'): readonly unknown[] =>
    (setViewsWith(views, broken)['Machine']?.store.list() ?? []).map((each) => (each as Machine).spec.hold);
  expect(holds('HoldIgnored')).toEqual([undefined]);
  expect([holds(), holds('GrantIgnored')]).toEqual([[held.spec.hold], [held.spec.hold]]);
  expect([withoutGuards('HoldIgnored'), withoutGuards(undefined)]).toEqual([new Set(['held']), undefined]);
});
