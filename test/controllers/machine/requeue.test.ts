import { describe, expect, it } from 'vitest';
import { type MachineOutcome, machineRequeueAt } from '../../../src/controllers/machine/requeue.ts';
import { ago, machine, NOW } from '../../support/builders.ts';

const WAIT = { step: 'Joining', reason: 'NodeMissing', message: 'Node m does not exist' } as const;
const waiting = (seconds: number) => ({ waiting: { reason: 'NodeMissing', since: ago(seconds) } });
const heartbeat = (ageMs: number, hasChanged = true, unreportedMs = 0) => ({
  heartbeat: { ageMs, hasChanged, unreportedMs },
});
const inSeconds = (seconds: number): { readonly requeueAt: Date } => ({ requeueAt: new Date(ago(-seconds)) });

describe('machineRequeueAt', () => {
  it.each<[what: string, parts: Partial<MachineOutcome>, seconds: number | undefined]>([
    ['nothing is awaited', {}, undefined],
    ['the agent is silent by then', heartbeat(5000), 40.001],
    ['the first heartbeat proves that the agent lives', heartbeat(5000, false), 10],
    ['the silence of this agent has its turn', heartbeat(60_000, true, 7000), 7],
    ['the silence was reported already', heartbeat(60_000), undefined],
    ['the peers that probe it are looked at again', { ...heartbeat(60_000), peers: inSeconds(300) }, 300],
    ['the wait is late', { machine: machine('m', { status: waiting(590) }), plan: { wait: WAIT } }, 10],
    [
      'the wait was late before',
      { machine: machine('m', { status: waiting(700) }), plan: { wait: WAIT } },
      undefined,
    ],
    ['the first of several', { ...heartbeat(5000), infra: inSeconds(9), result: inSeconds(3) }, 3],
    ['at once', { result: inSeconds(-1) }, -1],
  ])('reconciles when %s', (_what, parts, seconds) => {
    const outcome = {
      machine: machine('m'),
      heartbeat: undefined,
      infra: {},
      plan: {},
      result: {},
      ...parts,
    };
    const at = machineRequeueAt(outcome, NOW);
    expect(at && (+at - +NOW) / 1000).toBe(seconds);
  });
});
