import { expect, it } from 'vitest';
import type { ComponentProgress } from '../../../src/agent/journal/progress.ts';
import { TRANSITION_STEPS } from '../../../src/agent/journal/record.ts';
import { upgradeKey } from '../../../src/agent/upgrade/proof.ts';
import { NOW } from '../../support/virtual-clock.ts';

const SETTLED: ComponentProgress = {
  component: 'kubenode-agent',
  state: 'Committed',
  denied: [],
  history: [],
  since: NOW.toISOString(),
};
const TRANSITION = { entry: 'new', direction: 'Forward', to: 'new', bootId: 'b', boots: 0 } as const;

it('AGT-43 names an attempt only while this host is between two agents', () => {
  const named = TRANSITION_STEPS.filter((step) =>
    upgradeKey({ ...SETTLED, transition: { ...TRANSITION, step } }),
  );
  expect(named).toEqual(['Stopping']);
  expect([upgradeKey(undefined), upgradeKey(SETTLED)]).toEqual([undefined, undefined]);
});

it('AGT-43 gives each attempt a name of its own', () => {
  const transition = { ...TRANSITION, step: 'Stopping' } as const;
  const again = { ...SETTLED, transition, since: '2031-01-01T00:00:00Z' };
  expect(upgradeKey({ ...SETTLED, transition })).not.toBe(upgradeKey(again));
});
