import { describe, expect, it } from 'vitest';
import { judgePeerAnswers } from '../../../src/api/diagnosis/peer-answers.ts';
import { linkCutSinceMs, type ProbedMachine, probeCutMachine } from '../../../src/sim/machines/link-cut.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const SINCE_MS = 2 * HOUR_MS;

function fleet(): ProbedMachine[] {
  return Array.from({ length: 30 }, (_, index) => ({
    name: `m-${index}`,
    zone: ['a', 'b', 'c'][index % 3] ?? 'a',
    silence: undefined,
    answers: [],
  }));
}

function play(machines: readonly ProbedMachine[], nowMs: number): readonly string[] {
  const [subject] = machines;
  return subject ? probeCutMachine(subject, machines, nowMs).map(({ name }) => name) : [];
}

function judged([subject, ...others]: readonly ProbedMachine[], nowMs: number): string | undefined {
  const answers = (peer: string) => others.find(({ name }) => name === peer)?.answers;
  return subject && judgePeerAnswers(subject, answers, new Date(nowMs)).result;
}

describe('linkCutSinceMs', () => {
  it('cuts the link for forty minutes of each five hours', () => {
    const minutes = [119, 120, 159, 160, 419, 420, 459, 460];
    expect(minutes.map((minute) => linkCutSinceMs(minute * MINUTE_MS))).toEqual([
      undefined,
      SINCE_MS,
      SINCE_MS,
      undefined,
      undefined,
      7 * HOUR_MS,
      7 * HOUR_MS,
      undefined,
    ]);
  });
});

describe('probeCutMachine', () => {
  it('has six peers answer as long as the cut lasts, with answers that never become stale', () => {
    const machines = fleet();
    expect(play(machines, SINCE_MS - 1)).toEqual([]);
    expect(play(machines, SINCE_MS)).toHaveLength(7);
    expect(play(machines, SINCE_MS + MINUTE_MS)).toEqual([]);
    expect(play(machines, SINCE_MS + 2 * MINUTE_MS)).toHaveLength(7);
    for (let minute = 2; minute < 40; minute += 1) {
      const nowMs = SINCE_MS + minute * MINUTE_MS;
      play(machines, nowMs);
      expect(judged(machines, nowMs)).toBe('KubeletAnswers');
    }
    expect(play(machines, SINCE_MS + 40 * MINUTE_MS)).toHaveLength(7);
    expect(machines.every(({ silence, answers }) => !silence && answers.length === 0)).toBe(true);
    expect(play(machines, SINCE_MS + 41 * MINUTE_MS)).toEqual([]);
  });
});
