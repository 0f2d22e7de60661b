import { expect, it, onTestFinished } from 'vitest';
import { createLoop, type Loop } from '../../../src/kube/controller/loop.ts';
import { settle, type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

interface Bed {
  readonly clock: VirtualClock;
  readonly loop: Loop;
  /** When each round began. */
  readonly rounds: number[];
}

function bed(...waits: readonly number[]): Bed {
  const clock = virtualClock();
  const rounds: number[] = [];
  const round = async (): Promise<number> => {
    rounds.push(clock.monotonicMs());
    return waits[rounds.length - 1] ?? 10_000;
  };
  const loop = createLoop({ clock, gatherMs: 100, round });
  onTestFinished(async () => {
    const closed = loop.close();
    await clock.advance(60_000);
    await closed;
  });
  return { clock, loop, rounds };
}

it('runs a round at once, and again after the time that it asked for', async () => {
  const { clock, rounds } = bed(5000, 1000);
  await clock.advance(7000);
  expect(rounds).toEqual([0, 5100, 6200]);
});

it('runs a round when triggered, once for triggers that come together', async () => {
  const { clock, loop, rounds } = bed();
  await clock.advance(1000);
  loop.trigger();
  await clock.advance(50);
  loop.trigger();
  await clock.advance(5000);
  expect(rounds).toEqual([0, 1100]);
});

it('runs the next round without gathering when the last one asked for that', async () => {
  const { clock, rounds } = bed(0);
  await clock.advance(0);
  await settle();
  expect(rounds).toEqual([0, 0]);
});

it('runs no round after it is closed', async () => {
  const { clock, loop, rounds } = bed();
  await clock.advance(1000);
  const closed = loop.close();
  await clock.advance(60_000);
  await closed;
  loop.trigger();
  await clock.advance(60_000);
  expect(rounds).toEqual([0]);
});
