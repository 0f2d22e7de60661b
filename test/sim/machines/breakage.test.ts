import { expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { setClientWith, setViewsWith } from '../../../src/sim/machines/breakage.ts';
import { ledgerWithout } from '../../../src/sim/rollout/repairs/guard-breakage.ts';
import { machine } from '../../support/builders.ts';

const held = machine('m-1', { spec: { hold: { reason: 'debugging', scope: 'All' } } });

async function* pages(): AsyncGenerator {
  yield { items: [held] };
}

async function listed(broken?: 'HoldIgnored'): Promise<readonly unknown[]> {
  const client = setClientWith({ pages } as never, {}, broken);
  const found: unknown[] = [];
  for await (const { items } of client.pages<Machine>(MACHINES)) {
    found.push(...items.map(({ spec }) => spec.hold));
  }
  return found;
}

it('hides holds from the set, and takes the guard of the Defender out, only when that is broken', async () => {
  const views = { Machine: { store: { list: () => [held] } } } as never;
  const holds = (broken?: 'HoldIgnored' | 'GrantIgnored'): readonly unknown[] =>
    (setViewsWith(views, broken)['Machine']?.store.list() ?? []).map((each) => (each as Machine).spec.hold);
  expect([await listed(), await listed('HoldIgnored')]).toEqual([[held.spec.hold], [undefined]]);
  expect(holds('HoldIgnored')).toEqual([undefined]);
  expect([holds(), holds('GrantIgnored')]).toEqual([[held.spec.hold], [held.spec.hold]]);
  expect([ledgerWithout('HoldIgnored'), ledgerWithout(undefined)]).toEqual([new Set(['held']), undefined]);
});
