import { describe, expect, it } from 'vitest';
import { machineLife } from '../../support/machine-life.ts';

const GATE = 'NetworkReady';
const LOST = 'the readiness gate NetworkReady is not True';

/** From `from` to `to`, in seconds: not True at each full period, True in between. */
function flapping(from: number, to: number, period: number) {
  const times = Array.from({ length: (to - from) / period }, (_, index) => from + index * period);
  return times.flatMap((at) => [
    { at, gate: GATE, status: 'False' as const },
    { at: at + period / 2, gate: GATE, status: 'True' as const },
  ]);
}

const LIFE = { gates: [GATE], minReadySeconds: 60, seconds: 3000 };

function stalledLines(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line.includes('Stalled'));
}

describe('gatesStability', () => {
  it('MAC-04 reports a gate that flaps faster than its deadline as Stalled, and for as long as it flaps', () => {
    const lines = machineLife({ ...LIFE, reports: flapping(0, 1800, 60) });
    const first = lines.findIndex((line) => line.includes('Stalled'));
    expect(lines[first]).toBe(`600 s: tainted, NotReady, Stalled: ${LOST}`);
    // Not only in the moments in which the gate is not True.
    const during = lines.slice(first).filter((line) => Number.parseInt(line, 10) < 2370);
    expect(during.filter((line) => !line.includes('Stalled'))).toEqual([]);
    expect(stalledLines(lines.slice(-1))).toEqual([]);
  });

  it('MAC-04 reports it also on a machine that is Ready in between', () => {
    const reports = [{ at: 0, gate: GATE, status: 'True' as const }, ...flapping(300, 1500, 120)];
    const lines = machineLife({ ...LIFE, reports });
    expect(lines.find((line) => line.includes('Stalled'))).toBe(`900 s: open, NotReady, Stalled: ${LOST}`);
    expect(lines).toContain(
      '960 s: open, Ready, Stalled: all readiness gates are True; they have to stay so until 2030-01-01T12:26:00.000Z',
    );
  });

  it('MAC-04 does not report a gate that was lost once and came back', () => {
    const reports = [{ at: 0, gate: GATE, status: 'True' as const }, ...flapping(300, 420, 120)];
    expect(stalledLines(machineLife({ ...LIFE, reports }))).toEqual([]);
  });

  it('MAC-04 begins to count again when the gates were True for long enough', () => {
    const reports = [
      { at: 0, gate: GATE, status: 'True' as const },
      ...flapping(60, 120, 60),
      ...flapping(900, 960, 60),
    ];
    expect(stalledLines(machineLife({ ...LIFE, reports }))).toEqual([]);
  });
});
