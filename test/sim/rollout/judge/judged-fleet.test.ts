import { describe, expect, it } from 'vitest';
import {
  isWell,
  type JudgedFleet,
  machineOf,
  membersOf,
  noteHealth,
} from '../../../../src/sim/rollout/judge/judged-fleet.ts';

const EMPTY = (): JudgedFleet => ({ sets: new Map(), machines: new Map(), clocks: [] });
const TRUTH = {
  machine: 'm-1',
  uid: 'u',
  exists: true,
  sets: ['general'],
  serves: true,
  isSilent: false,
  nodeServes: true,
  isHealthy: true,
  isCordonedByPerson: false,
  isFaulty: false,
  isHeld: false,
};

describe('noteHealth', () => {
  it('keeps the time since when a machine is well over a short interruption, and not over a long one', () => {
    const machine = machineOf(EMPTY(), 'm-1');
    const truth = { machine: 'm-1', set: 'general', revision: 'r-2', state: 'Committed' } as const;
    const host = { truth, sinceMs: 0, isOut: true };
    machine.truth = TRUTH;
    noteHealth(machine, host, 1000);
    expect(host).toMatchObject({ wellMs: 1000, isOut: false });
    const wellAfter = (fromMs: number, untilMs: number): unknown => {
      machine.truth = { ...TRUTH, serves: false, isHealthy: false };
      noteHealth(machine, host, fromMs);
      expect(isWell(machine, host)).toBe(false);
      machine.truth = TRUTH;
      noteHealth(machine, host, untilMs);
      return (host as { wellMs?: number }).wellMs;
    };
    expect(wellAfter(2000, 3000)).toBe(1000);
    expect(wellAfter(4000, 184_000)).toBe(184_000);
  });
});

describe('membersOf', () => {
  it('has the machines that every process knows as members', () => {
    const fleet = EMPTY();
    Object.assign(machineOf(fleet, 'm-1'), { truth: TRUTH, joinedMs: 0 });
    Object.assign(machineOf(fleet, 'm-2'), { truth: { ...TRUTH, sets: [] }, joinedMs: 0 });
    Object.assign(machineOf(fleet, 'm-3'), { truth: { ...TRUTH, exists: false }, joinedMs: 0 });
    expect(membersOf(fleet, 'general', 180_000)).toEqual([]);
    expect(membersOf(fleet, 'general', 180_001).map(({ truth }) => truth.machine)).toEqual(['m-1']);
  });
});
