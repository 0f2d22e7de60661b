import { beforeEach, describe, expect, it } from 'vitest';
import type { DetectedCondition } from '../../../../src/agent/detector/match/condition.ts';
import type { HostPrograms } from '../../../../src/agent/detector/report/host-programs.ts';
import { NodeReporter } from '../../../../src/agent/detector/report/node-reporter.ts';
import type { StandbyCondition } from '../../../../src/agent/detector/report/writers.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import { type FakeNode, fakeNode } from '../../../support/agent/fake-node.ts';
import { type MemoryLog, memoryLog } from '../../../support/memory-log.ts';
import { NOW, type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';

const NPD = 'node-problem-detector';
const good = condition('A', 'False');
const other = condition('B', 'False');
let clock: VirtualClock;
let node: FakeNode;
let log: MemoryLog;
let programs: HostPrograms | undefined;
let standby: (readonly StandbyCondition[])[];
let reporter: NodeReporter;

beforeEach(() => {
  clock = virtualClock();
  node = fakeNode();
  log = memoryLog();
  programs = undefined;
  standby = [];
  const onStandby = (found: readonly StandbyCondition[]): void => void standby.push(found);
  reporter = new NodeReporter({
    api: node.api,
    clock,
    log,
    programs: async () => programs,
    onStandby,
  });
});

describe('node reporter', () => {
  it('AGT-73 writes at once after a change, and otherwise every five minutes', async () => {
    await reporter.report([good]);
    await advanceAndReport(299, [good]);
    expect(node.writes).toEqual([['A False R']]);
    await advanceAndReport(1, [good]);
    expect(node.writes).toHaveLength(2);
    expect(node.condition('A')?.lastHeartbeatTime).toBe('2030-01-01T12:05:00Z');
    expect(node.condition('A')?.lastTransitionTime).toBe('2030-01-01T12:00:00Z');
    await advanceAndReport(1, [condition('A', 'True')]);
    expect(node.writes.at(-1)).toEqual(['A True R']);
  });

  it('removes a condition that no file declares any more', async () => {
    await reporter.report([good, other]);
    await reporter.report([good]);
    expect(node.condition('B')).toBeUndefined();
  });

  it('waits for the Node, and for the API server', async () => {
    node.exists = false;
    await reporter.report([good]);
    node.exists = true;
    await reporter.report([good]);
    expect(node.writes).toHaveLength(1);
    node.failure = new KubeError('Unreachable', 'no route');
    for (let tries = 0; tries < 3; tries += 1) await advanceAndReport(5, [condition('A', 'True')]);
    expect(log.lines.map(({ message }) => message)).toEqual(['conditions not written']);
    node.failure = undefined;
    await advanceAndReport(5, [condition('A', 'True')]);
    expect(node.writes.at(-1)).toEqual(['A True R']);
  });

  it('writes at once to a Node that was deleted and registered again, and restores what another program removed', async () => {
    await reporter.report([good]);
    node.exists = false;
    await advanceAndReport(1, [good]);
    node.register();
    await advanceAndReport(1, [good]);
    expect(node.condition('A')?.status).toBe('False');
    expect(node.writes).toHaveLength(2);
    node.register();
    await advanceAndReport(1, [good]);
    expect(node.condition('A')?.status).toBe('False');
  });

  it('AGT-72 never removes a condition of which node-problem-detector patched the times alone', async () => {
    await reporter.report([good, other]);
    // Status, reason and message stay as the agent wrote them.
    node.patchAs(NPD, 'A', later(60), { reason: 'R', message: 'm' });
    await advanceAndReport(60, [condition('A', 'True'), other]);
    expect(standby).toEqual([[{ type: 'A', because: `${NPD} writes it`, writer: NPD }]]);
    await advanceAndReport(1, [condition('A', 'True'), condition('B', 'True')]);
    expect(node.writes.at(-1)).toEqual(['B True R', 'keep A message reason status']);
    expect(node.condition('A')).toEqual({
      type: 'A',
      status: 'False',
      reason: 'R',
      message: 'm',
      lastHeartbeatTime: '2030-01-01T12:01:00Z',
      lastTransitionTime: '2030-01-01T12:01:00Z',
    });
  });

  it('AGT-72 neither removes nor shortens it when no file declares it any more', async () => {
    await reporter.report([good, other]);
    node.patchAs(NPD, 'A', later(60), { reason: 'R', message: 'm' });
    const before = node.condition('A');
    await advanceAndReport(60, [other]);
    await advanceAndReport(300, [other]);
    await advanceAndReport(1, []);
    expect(node.condition('A')).toEqual(before);
    expect(node.condition('B')).toBeUndefined();
  });

  it('AGT-72 stands by for what node-problem-detector writes alone, whatever processes run', async () => {
    programs = { names: new Set(['node-problem-de']) };
    node.patchAs(NPD, 'A', NOW);
    await reporter.report([good, other]);
    expect(node.writes).toEqual([['B False R']]);
    // It runs on, but writes no more: it may be in its mode for metrics alone.
    await advanceAndReport(359, [good, other]);
    expect(node.writerOf('A')).toBe(NPD);
    await advanceAndReport(1, [good, other]);
    expect(node.writerOf('A')).toBe('kubenode-agent');
    expect(standby.at(-1)).toEqual([]);
  });

  it('AGT-72 takes over within a minute of the end of node-problem-detector', async () => {
    programs = { names: new Set(['node-problem-de']) };
    node.patchAs(NPD, 'A', NOW);
    await reporter.report([good]);
    for (let seconds = 0; seconds < 100; seconds += 5) await advanceAndReport(5, [good]);
    programs = { names: new Set(['kubelet']) };
    let seconds = 0;
    while (node.writerOf('A') === NPD) {
      await advanceAndReport(1, [condition('A', 'True')]);
      seconds += 1;
    }
    expect(seconds).toBeGreaterThan(30);
    expect(seconds).toBeLessThan(60);
    expect(node.condition('A')?.status).toBe('True');
  });

  it('AGT-72 takes over what it wrote a moment before node-problem-detector did', async () => {
    programs = { names: new Set() };
    await advanceAndReport(1, [good]);
    node.patchAs(NPD, 'A', later(2), { reason: 'R', message: 'm' });
    for (let seconds = 0; seconds < 60; seconds += 1) await advanceAndReport(1, [good]);
    expect(node.writerOf('A')).toBe('kubenode-agent');
  });

  it('AGT-72 takes over what it wrote before, with the same status', async () => {
    await reporter.report([good]);
    node.patchAs(NPD, 'A', later(1), { reason: 'R', message: 'm' });
    await advanceAndReport(100, [good]);
    expect(node.writerOf('A')).toBe(NPD);
    await advanceAndReport(261, [good]);
    expect(node.writerOf('A')).toBe('kubenode-agent');
  });

  it('AGT-72 changes what it took over with the same values, of which the other program is an owner for good', async () => {
    node.patchAs(NPD, 'A', NOW, { reason: 'R', message: 'm' });
    await reporter.report([good]);
    await advanceAndReport(360, [good]);
    expect(node.writerOf('A')).toBe('kubenode-agent');
    await advanceAndReport(10, [condition('A', 'True')]);
    expect(node.condition('A')?.status).toBe('True');
    expect(standby.at(-1)).toEqual([]);
  });

  it('AGT-72 yields at once when node-problem-detector begins to write, and never overwrites it', async () => {
    await reporter.report([good]);
    node.patchAs(NPD, 'A', later(10));
    await advanceAndReport(10, [condition('A', 'True')]);
    expect(standby).toHaveLength(1);
    for (let minutes = 0; minutes < 30; minutes += 5) {
      node.patchAs(NPD, 'A', later(310 + minutes * 60));
      await advanceAndReport(300, [condition('A', 'True')]);
    }
    expect(node.condition('A')?.status).toBe('False');
    expect(standby).toHaveLength(1);
  });

  it('AGT-72 counts the silence of another program by the monotonic clock', async () => {
    node.patchAs(NPD, 'A', NOW);
    await reporter.report([good]);
    clock.jumpWall(3_600_000);
    await advanceAndReport(10, [good]);
    expect(node.writerOf('A')).toBe(NPD);
    clock.jumpWall(-7_200_000);
    await advanceAndReport(350, [good]);
    expect(node.writerOf('A')).toBe('kubenode-agent');
  });

  it('AGT-72 does not overwrite what another program wrote between the read and the write', async () => {
    node.beforeWrite = () => node.patchAs(NPD, 'A', clock.now());
    await reporter.report([good]);
    node.beforeWrite = () => undefined;
    node.lags = true;
    await reporter.report([good, other]);
    expect(node.writerOf('A')).toBe(NPD);
    expect(node.writes).toEqual([['B False R']]);
  });

  it('AGT-72 does not remove a condition that another program began to write since the Node was read', async () => {
    await reporter.report([good, other]);
    node.beforeWrite = () => node.patchAs(NPD, 'B', later(1), { reason: 'R', message: 'm' });
    await advanceAndReport(1, [good]);
    node.beforeWrite = () => undefined;
    await advanceAndReport(1, [good]);
    await advanceAndReport(300, [good]);
    expect(node.condition('B')?.status).toBe('False');
  });

  it('tells which conditions that are not its own node-problem-detector writes, while it is alive', async () => {
    const reasons = new Set(['OOMKilling']);
    programs = { names: new Set(['node-problem-de']), npdReasons: reasons };
    node.patchAs(NPD, 'X', NOW);
    node.patchAs('another-program', 'Y', NOW);
    const beside = [{ type: 'X', because: `${NPD} writes it`, writer: NPD, aliveMs: 0 }];
    expect(await reporter.report([good])).toEqual({ standby: [], beside, reasons, isWritten: true });
    expect(node.writes).toEqual([['A False R']]);
    await clock.advance(360_000);
    expect(await reporter.report([good])).toMatchObject({ standby: [], beside: [] });
    expect(standby).toEqual([]);
  });

  it('tells which conditions another program writes, and until when that one was alive', async () => {
    const reasons = new Set(['OOMKilling']);
    programs = { names: new Set(['node-problem-de']), npdReasons: reasons };
    node.failure = new KubeError('Unreachable', 'no route');
    expect(await reporter.report([good])).toEqual({ standby: undefined, beside: [], isWritten: false });
    node.failure = undefined;
    node.patchAs(NPD, 'A', NOW);
    await clock.advance(5000);
    const writer = { type: 'A', because: `${NPD} writes it`, writer: NPD };
    expect(await reporter.report([good])).toEqual({
      standby: [{ ...writer, aliveMs: 5000 }],
      beside: [],
      reasons,
      isWritten: true,
    });
    programs = { names: new Set() };
    await clock.advance(20_000);
    expect(await reporter.report([good])).toEqual({
      standby: [{ ...writer, aliveMs: 5000 }],
      beside: [],
      isWritten: true,
    });
  });
});

function later(seconds: number): Date {
  return new Date(NOW.getTime() + seconds * 1000);
}

async function advanceAndReport(seconds: number, conditions: readonly DetectedCondition[]): Promise<void> {
  await clock.advance(seconds * 1000);
  await reporter.report(conditions);
}

function condition(type: string, status: DetectedCondition['status']): DetectedCondition {
  return { type, status, reason: 'R', message: 'm', since: NOW.toISOString() };
}
