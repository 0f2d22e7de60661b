/** 0 → N → 0 instances by the calls of the machine controller, while a cloud fails and loses answers. */
import { expect } from 'vitest';
import { byCode } from '../../../src/kube/objects/digest.ts';
import type { Provider } from '../../../src/providers/contract.ts';
import { LONG, randomFrom, SEED } from '../../support/sweep-size.ts';
import { createFleet, hasNoInstance } from './fleet.ts';

export interface ScaledCloud {
  readonly provider: Provider;
  readonly config: Readonly<Record<string, unknown>>;
  /** Returns the ids of the instances that cost money. */
  readonly existing: () => Promise<readonly string[]>;
  /** Returns the number of requests that the cloud got. */
  readonly requests: () => number;
  /** From now on each request has what `draw` returns. Returns what ends it. */
  readonly failSometimes: (draw: () => DrawnFault) => () => void;
}

/** Fail: a server error before anything happens. LoseAnswer: the answer is lost after it. */
export type DrawnFault = 'Fail' | 'LoseAnswer' | undefined;

export const COUNT = LONG ? 1000 : 60;
const ROUNDS = 60;
const ERROR_SHARE = 0.05;
const LOST_SHARE = 0.1;
const HOURS = 2;
/** For each machine and hour, of a fleet in which nothing happens. */
const IDLE_REQUESTS = 2;

/** Resolves with the number of instances that there were at most. */
export async function expectExactlyAsMany(cloud: ScaledCloud): Promise<number> {
  const { provider, config, existing } = cloud;
  const fleet = createFleet(provider, { count: COUNT, config });
  const restore = cloud.failSometimes(draws());
  for (let round = 0; round < ROUNDS && fleet.machines().some(hasNoInstance); round += 1) {
    await fleet.ensureAll();
  }
  restore();
  expect(fleet.machines().filter(hasNoInstance)).toEqual([]);
  const recorded = fleet.machines().map(({ status }) => status?.infra?.providerID ?? '');
  const created = await existing();
  expect(created.toSorted(byCode)).toEqual(recorded.toSorted(byCode));

  // What was not read yet is read now.
  await fleet.ensureAll();
  fleet.joinAll();
  const before = cloud.requests();
  for (let hour = 0; hour < HOURS; hour += 1) await fleet.idleHour();
  expect(cloud.requests() - before).toBeLessThanOrEqual(IDLE_REQUESTS * HOURS * COUNT);

  cloud.failSometimes(draws());
  for (let round = 0; round < ROUNDS && fleet.machines().length > 0; round += 1) await fleet.removeAll();
  expect([fleet.machines(), await existing()]).toEqual([[], []]);
  return created.length;
}

function draws(): () => DrawnFault {
  const random = randomFrom(SEED);
  return () => {
    const drawn = random();
    if (drawn < ERROR_SHARE) return 'Fail';
    return drawn < ERROR_SHARE + LOST_SHARE ? 'LoseAnswer' : undefined;
  };
}
