import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../../../src/cli/run.ts';
import { recordingBed } from '../../../../rules/recording/recording-bed.ts';
import { tempFolder } from '../../../../support/temp.ts';
import { testIo } from '../../../../support/test-io.ts';

const ROOT = join(import.meta.dirname, '../../../../..');

/** The example fleet, and a recording in which the kernel of m-1 hangs. */
function fleetWithRecording(): string {
  const folder = tempFolder('backtest');
  for (const part of ['fleet', 'rules', 'cdk8s.yaml']) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  }
  const bed = recordingBed();
  for (const name of ['m-1', 'm-2']) {
    bed.machine(name, { status: { facts: { bootedAt: '2029-12-01T00:00:00Z' } } });
    bed.node(name, { Ready: 'True', FrequentTaskHung: 'False' });
    bed.agent(name, true);
  }
  bed.synced();
  bed.elapse(60);
  bed.node('m-1', { FrequentTaskHung: 'True', Ready: 'False' });
  bed.elapse(600);
  const text = bed.lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  writeFileSync(join(folder, 'facts.jsonl'), text);
  return folder;
}

interface PrintedReport {
  readonly nodes: object;
  readonly machines: readonly { readonly machine: string; readonly cases: readonly object[] }[];
}

describe('kubenode rules backtest', { timeout: 120_000 }, () => {
  it('replays a rule of the working tree of a fleet repository, and prints what it would have done', async () => {
    const io = testIo({ cwd: fleetWithRecording() });
    const args = ['rules', 'backtest', 'kernel-hang', '--from', 'facts.jsonl', '-o', 'json'];
    expect([await runCommandLine(io, args), io.stderr]).toEqual([0, '']);
    const report = JSON.parse(io.stdout) as PrintedReport;
    expect(report.nodes).toEqual({ observed: 2, targets: 2, matched: 1, touched: 1, indeterminate: 0 });
    expect(report.machines).toMatchObject([{ machine: 'm-1', cases: [{ asks: [{ action: 'Reboot' }] }] }]);
  });

  it.each<[name: string, content: string, where: string]>([
    ['an empty file', '', 'the file is empty'],
    ['a file of another format', '{"a": 1}\n', 'facts.jsonl:1'],
  ])('ends with 65 for %s', async (_, content, where) => {
    const folder = fleetWithRecording();
    writeFileSync(join(folder, 'facts.jsonl'), content);
    const io = testIo({ cwd: folder });
    expect(await runCommandLine(io, ['rules', 'backtest', 'kernel-hang', '--from', 'facts.jsonl'])).toBe(65);
    expect(io.stderr).toContain(where);
  });

  it('ends with 64 without a recording, and with 65 for a rule that the fleet does not have', async () => {
    const io = testIo({ cwd: fleetWithRecording() });
    expect(await runCommandLine(io, ['rules', 'backtest', 'kernel-hang'])).toBe(64);
    expect(await runCommandLine(io, ['rules', 'backtest', 'missing', '--from', 'facts.jsonl'])).toBe(65);
    expect(io.stderr).toContain('use one of: component-down-kubelet');
  });
});
