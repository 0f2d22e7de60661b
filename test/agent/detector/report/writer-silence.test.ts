import { beforeEach, describe, expect, it } from 'vitest';
import type { NodeWithConditions } from '../../../../src/agent/detector/report/condition-owners.ts';
import { ObservedSilence } from '../../../../src/agent/detector/report/writer-silence.ts';
import { NOW, type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';

const US = 'kubenode-agent';
const NPD = 'node-problem-detector';
const NPD_PROGRAM = 'node-problem-de';
let clock: VirtualClock;
let silence: ObservedSilence;

beforeEach(() => {
  clock = virtualClock();
  silence = new ObservedSilence(clock);
});

describe('writer silence', () => {
  it('is the age of a heartbeat when it is first observed, and grows with the monotonic clock', async () => {
    expect(observe(NPD, -20)).toBe(true);
    expect(silence.heartbeatMs('A')).toBe(20_000);
    await clock.advance(10_000);
    clock.jumpWall(3_600_000);
    observe(NPD, -20);
    expect(silence.heartbeatMs('A')).toBe(30_000);
    clock.jumpWall(-3_600_000);
    observe(NPD, 5);
    expect(silence.heartbeatMs('A')).toBe(5000);
  });

  it('is zero for a heartbeat of the future, and endless without one', () => {
    observe(NPD, 600);
    expect(silence.heartbeatMs('A')).toBe(0);
    expect(silence.heartbeatMs('B')).toBe(Number.POSITIVE_INFINITY);
    observe(NPD, undefined);
    expect(silence.heartbeatMs('A')).toBe(Number.POSITIVE_INFINITY);
  });

  it('counts the last write of a program that wrote no heartbeat', () => {
    observe('kubectl', -300, ['f:status'], -7);
    expect(silence.heartbeatMs('A')).toBe(7000);
  });

  it('counts since the program of the manager ran here', async () => {
    observe(NPD, 0);
    silence.noteRunning(new Set([NPD_PROGRAM]));
    await clock.advance(10_000);
    silence.noteRunning(new Set([NPD_PROGRAM]));
    expect(silence.programMs(NPD)).toBe(0);
    await clock.advance(10_000);
    silence.noteRunning(new Set(['kubelet']));
    expect(silence.programMs(NPD)).toBe(10_000);
  });

  it('counts since it was first looked for when node-problem-detector never ran here', async () => {
    observe(NPD, 0);
    silence.noteRunning(new Set());
    await clock.advance(10_000);
    silence.noteRunning(new Set());
    expect(silence.programMs(NPD)).toBe(10_000);
  });

  it('is unknown for a program that may run elsewhere, and on a host that shows no processes', () => {
    observe('health-controller', 0);
    silence.noteRunning(new Set());
    expect(silence.programMs('health-controller')).toBeUndefined();
    observe(NPD, 0);
    silence.noteRunning(undefined);
    expect(silence.programMs(NPD)).toBeUndefined();
  });

  it('has nothing to measure while no other program writes', () => {
    expect(observe(US, 0)).toBe(false);
  });
});

function observe(
  manager: string,
  heartbeatSeconds: number | undefined,
  fields: readonly string[] = ['f:status', 'f:lastHeartbeatTime'],
  wroteSeconds = 0,
): boolean {
  const heartbeat = heartbeatSeconds === undefined ? {} : { lastHeartbeatTime: at(heartbeatSeconds) };
  const owned = Object.fromEntries(fields.map((field) => [field, {}]));
  const fieldsV1 = { 'f:status': { 'f:conditions': { 'k:{"type":"A"}': owned } } };
  const operation = manager === US ? 'Apply' : 'Update';
  const managedFields = [{ manager, operation, time: at(wroteSeconds), fieldsV1 } as const];
  const node: NodeWithConditions = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'm', managedFields },
    status: { conditions: [{ type: 'A', ...heartbeat }] },
  };
  return silence.observe(node, ['A', 'B'], US);
}

function at(seconds: number): string {
  return new Date(NOW.getTime() + seconds * 1000).toISOString();
}
