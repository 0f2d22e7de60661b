/** What the rules for the kernel make of a log of many kernels: all lines pass through one buffer, as in a monitor. */
import { describe, expect, it } from 'vitest';
import { readLogMonitor } from '../../../src/agent/detector/config/log-monitor.ts';
import { addEvidence, type Evidence, judgeLog } from '../../../src/agent/detector/match/evidence.ts';
import { LogBuffer } from '../../../src/agent/detector/match/log-buffer.ts';
import { KERNEL_LINES, kernelRules } from '../../support/agent/kernel-lines.ts';
import { NOW } from '../../support/virtual-clock.ts';

const monitor = readLogMonitor(kernelRules, 'kernel-monitor.json');

describe('the lines of many kernels', () => {
  it('AGT-70 are 95, and each gives the reasons that node-problem-detector gives it', () => {
    const buffer = new LogBuffer(monitor.bufferSize);
    const found = KERNEL_LINES.map(([, message]) => [reasonsOf(buffer, message).join(' '), message]);
    expect(found).toEqual(KERNEL_LINES);
    expect(KERNEL_LINES).toHaveLength(95);
  });

  it('AGT-70 raise the conditions of the rules that are permanent, with the last reason and its lines', () => {
    const buffer = new LogBuffer(monitor.bufferSize);
    let evidence: readonly Evidence[] = [];
    for (const [, message] of KERNEL_LINES) {
      buffer.push({ time: NOW, message });
      for (const rule of monitor.rules) {
        const found = buffer.match(rule.pattern);
        const [first, ...more] = found === 'TooLong' ? [] : found;
        if (first) evidence = addEvidence(evidence, { rule, lines: [first, ...more] });
      }
    }
    const { conditions } = judgeLog({ monitor, evidence, before: [], now: NOW });
    expect(conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`)).toEqual([
      'KernelDeadlock True DockerHung',
      'ReadonlyFilesystem True FilesystemIsReadOnly',
      'XfsShutdown True XfsHasShutdown',
    ]);
  });

  it.each(monitor.rules.map(({ reason }) => [reason]))('have one for each rule: %s', (reason) => {
    expect(KERNEL_LINES.some(([reasons]) => reasons.split(' ').includes(reason))).toBe(true);
  });
});

function reasonsOf(buffer: LogBuffer, message: string): readonly string[] {
  buffer.push({ time: NOW, message });
  const matching = monitor.rules.filter(({ pattern }) => {
    const found = buffer.match(pattern);
    return found !== 'TooLong' && found.length > 0;
  });
  return matching.map(({ reason }) => reason);
}
