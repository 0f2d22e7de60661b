import { describe, expect, it } from 'vitest';
import type { DetectedEvent } from '../../../../src/agent/detector/match/condition.ts';
import { EventGate, type MonitorEvents } from '../../../../src/agent/detector/report/event-gate.ts';
import type { ActiveWriter } from '../../../../src/agent/detector/report/node-reporter.ts';

const oom: DetectedEvent = { type: 'Warning', reason: 'OOMKilling', message: 'killed' };
const changed: DetectedEvent = { type: 'Warning', reason: 'Hung', message: 'hung', condition: 'OurHang' };

describe('event gate', () => {
  it('records Events at once while no other program writes a condition of the monitor', () => {
    const gate = new EventGate();
    gate.add([kernel([oom])], 1000);
    expect(reasons(gate, [writer('OtherCondition', 0)])).toEqual(['OOMKilling']);
    expect(reasons(gate, [])).toEqual([]);
  });

  it('leaves the Events of a monitor to another program that writes one of its conditions', () => {
    const gate = new EventGate();
    gate.add([kernel([oom])], 1000);
    expect(reasons(gate, [writer('KernelDeadlock', 2000)])).toEqual([]);
    // It was alive after the line.
    expect(reasons(gate, [])).toEqual([]);
  });

  it('leaves those of other files of the same source to it, too, but not those of another source', () => {
    const gate = new EventGate();
    const second = { source: 'kernel-monitor', conditions: [], events: [oom] };
    const third = { source: 'systemd-monitor', conditions: [], events: [oom] };
    gate.add([second, third], 1000);
    const monitors = [kernel([]), second, third];
    const taken = gate.take(monitors, { standby: [writer('KernelDeadlock', 2000)] });
    expect(taken.map(([source]) => source)).toEqual(['systemd-monitor']);
  });

  it('leaves to the other program what that one reports, where its reasons are known, and nothing else', () => {
    const gate = new EventGate();
    const lockup = { ...oom, reason: 'SoftLockup' };
    gate.add([kernel([oom, lockup, changed])], 1000);
    const standby = [writer('KernelDeadlock', 2000)];
    expect(reasons(gate, standby, new Set(['OOMKilling']))).toEqual(['SoftLockup', 'Hung']);
    gate.add([kernel([oom])], 3000);
    expect(reasons(gate, [writer('KernelDeadlock', 4000)], new Set())).toEqual(['OOMKilling']);
  });

  it('leaves them to it also when it writes other conditions only', () => {
    const gate = new EventGate();
    gate.add([kernel([oom])], 1000);
    const others = { standby: [], beside: [writer('KernelDeadlock', 2000)] };
    expect(gate.take([kernel([])], { ...others, reasons: new Set(['OOMKilling']) })).toEqual([]);
    gate.add([kernel([oom])], 3000);
    expect(gate.take([kernel([])], others)).toHaveLength(1);
  });

  it('leaves it also the Events of a source without conditions, where its reasons are known', () => {
    const gate = new EventGate();
    const systemd = { source: 'systemd-monitor', conditions: [], events: [oom] };
    gate.add([systemd], 1000);
    const standby = [writer('KernelDeadlock', 2000)];
    expect(gate.take([kernel([]), systemd], { standby, reasons: new Set(['OOMKilling']) })).toEqual([]);
  });

  it('records the change of a condition that the other program does not write', () => {
    const gate = new EventGate();
    gate.add([kernel([oom, changed])], 1000);
    expect(reasons(gate, [writer('KernelDeadlock', 2000)])).toEqual(['Hung']);
  });

  it('records what came after the last sign of life of the other program once the agent takes over', () => {
    const gate = new EventGate();
    gate.add([kernel([oom])], 1000);
    expect(reasons(gate, [writer('KernelDeadlock', 1000)])).toEqual([]);
    gate.add([kernel([oom, oom])], 1500);
    expect(reasons(gate, [writer('KernelDeadlock', 1000)])).toEqual([]);
    expect(reasons(gate, [])).toEqual(['OOMKilling', 'OOMKilling']);
  });

  it('waits until it is known who else reports, and keeps the last thousand Events until then', () => {
    const gate = new EventGate();
    gate.add([kernel(Array.from({ length: 1001 }, () => oom))], 1000);
    expect(reasons(gate, undefined)).toEqual([]);
    expect(reasons(gate, [])).toHaveLength(1000);
  });

  it('forgets what it holds of a monitor that was removed', () => {
    const gate = new EventGate();
    gate.add([kernel([oom])], 1000);
    expect(reasons(gate, [writer('KernelDeadlock', 0)])).toEqual([]);
    expect(gate.take([], { standby: [] })).toEqual([]);
  });
});

function reasons(
  gate: EventGate,
  standby: readonly ActiveWriter[] | undefined,
  known?: ReadonlySet<string>,
): readonly string[] {
  return gate
    .take([kernel([])], { standby, ...(known && { reasons: known }) })
    .map(([, { reason }]) => reason);
}

function kernel(events: readonly DetectedEvent[]): MonitorEvents {
  return { source: 'kernel-monitor', conditions: ['KernelDeadlock', 'OurHang'], events };
}

function writer(type: string, aliveMs: number): ActiveWriter {
  return { type, because: 'npd writes it', writer: 'npd', aliveMs };
}
