import { beforeEach, describe, expect, it } from 'vitest';
import type { DetectedCondition } from '../../../../src/agent/detector/match/condition.ts';
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
let npdRuns: boolean;
let standby: (readonly StandbyCondition[])[];
let reporter: NodeReporter;

beforeEach(() => {
  clock = virtualClock();
  node = fakeNode();
  log = memoryLog();
  npdRuns = false;
  standby = [];
  const onStandby = (found: readonly StandbyCondition[]): void => void standby.push(found);
  reporter = new NodeReporter({
    api: node.api,
    clock,
    log,
    otherDetectorRuns: async () => npdRuns,
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
    expect(node.writes).toEqual([]);
    await advanceAndReport(5, [good]);
    expect(node.writes).toHaveLength(1);
    node.failure = new KubeError('Unreachable', 'no route');
    for (let tries = 0; tries < 3; tries += 1) await advanceAndReport(5, [condition('A', 'True')]);
    expect(log.lines.map(({ message }) => message)).toEqual(['conditions not written']);
    node.failure = undefined;
    await advanceAndReport(5, [condition('A', 'True')]);
    expect(node.writes.at(-1)).toEqual(['A True R']);
  });

  it('AGT-72 leaves a condition to node-problem-detector until it is silent for 15 minutes', async () => {
    node.writeAs(NPD, 'A', NOW);
    await reporter.report([good, other]);
    expect(node.writes).toEqual([['B False R']]);
    expect(standby).toEqual([[{ type: 'A', because: `${NPD} writes it` }]]);
    for (let minutes = 0; minutes < 15; minutes += 5) await advanceAndReport(300, [good, other]);
    expect(node.condition('A')?.manager).toBe('kubenode-agent');
    expect(standby.at(-1)).toEqual([]);
  });

  it('AGT-72 yields at once when node-problem-detector is started, and never overwrites it', async () => {
    await reporter.report([good]);
    npdRuns = true;
    await advanceAndReport(10, [good]);
    expect(node.condition('A')).toBeUndefined();
    node.writeAs(NPD, 'A', clock.now());
    await advanceAndReport(10, [condition('A', 'True')]);
    npdRuns = false;
    await advanceAndReport(10, [condition('A', 'True')]);
    expect(node.condition('A')?.manager).toBe(NPD);
  });

  it('AGT-72 does not overwrite what another program wrote between the read and the write', async () => {
    node.beforeWrite = () => node.writeAs(NPD, 'A', clock.now());
    await reporter.report([good]);
    expect(node.condition('A')?.manager).toBe(NPD);
    node.beforeWrite = () => undefined;
    await reporter.report([good, other]);
    expect(node.writes).toEqual([['B False R']]);
  });
});

async function advanceAndReport(seconds: number, conditions: readonly DetectedCondition[]): Promise<void> {
  await clock.advance(seconds * 1000);
  await reporter.report(conditions);
}

function condition(type: string, status: DetectedCondition['status']): DetectedCondition {
  return { type, status, reason: 'R', message: 'm', since: NOW.toISOString() };
}
