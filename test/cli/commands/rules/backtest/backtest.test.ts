import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../../../src/cli/run.ts';
import { recordingBed } from '../../../../rules/recording/recording-bed.ts';
import { tempFolder } from '../../../../support/temp.ts';
import { testIo } from '../../../../support/test-io.ts';

const ROOT = join(import.meta.dirname, '../../../../..');
const PERSON = ['-c', 'user.name=anna', '-c', 'user.email=anna@example.com'];
/** One of them is less than the rule may match. */
const MACHINES = Array.from({ length: 50 }, (_, index) => `m-${index + 1}`);

/** The example fleet: as committed it acts on a kernel that hangs for two minutes, in the working tree only after ten. */
function fleetThatWaitsLonger(): string {
  const folder = tempFolder('backtest');
  for (const part of ['fleet', 'rules', 'cdk8s.yaml']) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  }
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    [...PERSON, 'commit', '-q', '-m', 'fleet'],
  ]) {
    execFileSync('git', args, { cwd: folder });
  }
  const file = join(folder, 'rules/kernel-hang.ts');
  const text = readFileSync(file, 'utf8');
  const slower = text.replace("{ for: '2m' }", "{ for: '10m' }").replaceAll("'True', 180", "'True', 700");
  expect(slower).toContain("{ for: '10m' }");
  writeFileSync(file, slower);
  return folder;
}

/** m-1 hangs for five minutes, and later m-2 for fifteen. */
function writeRecording(file: string): void {
  const bed = recordingBed();
  const bootedAt = new Date(+bed.now() - 86_400_000).toISOString();
  for (const name of MACHINES) {
    bed.machine(name, { status: { facts: { bootedAt } } });
    bed.node(name, { Ready: 'True', FrequentTaskHung: 'False' });
    bed.agent(name, true);
  }
  bed.synced();
  bed.elapse(60);
  for (const [name, seconds] of [
    ['m-1', 300],
    ['m-2', 900],
  ] as const) {
    bed.node(name, { FrequentTaskHung: 'True' });
    bed.elapse(seconds);
    bed.node(name, { FrequentTaskHung: 'False' });
    bed.elapse(900);
  }
  writeFileSync(file, bed.lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

describe('kubenode rules backtest', () => {
  it.each<[name: string, args: readonly string[], error: string]>([
    ['a recording', ['kernel-hang'], '--from'],
    ['a rule', ['--from', 'facts.jsonl'], "missing required argument 'rule'"],
  ])('ends with 64 without %s', async (_, args, error) => {
    const io = testIo();
    expect(await runCommandLine(io, ['rules', 'backtest', ...args])).toBe(64);
    expect(io.stderr).toContain(error);
  });

  it('lists the nodes that the rule of a commit would have touched, and that of the working tree would not', async () => {
    const cwd = fleetThatWaitsLonger();
    writeRecording(join(cwd, 'facts.jsonl'));
    const args = ['rules', 'backtest', 'kernel-hang', '--from', 'facts.jsonl'];

    const io = testIo({ cwd });
    expect([await runCommandLine(io, [...args, '--compare', 'HEAD', '-o', 'json']), io.stderr]).toEqual([
      0,
      '',
    ]);
    const { nodes, compared } = JSON.parse(io.stdout) as { nodes: object; compared: object };
    expect(nodes).toMatchObject({ observed: MACHINES.length, targets: MACHINES.length, touched: 1 });
    expect(compared).toEqual({ revision: 'HEAD', onlyNow: [], onlyBefore: ['m-1'] });
  });

  it('ends with the revision in the error when it does not exist', async () => {
    const io = testIo({ cwd: fleetThatWaitsLonger() });
    const args = ['rules', 'backtest', 'kernel-hang', '--from', 'facts.jsonl', '--compare', 'no-such-branch'];
    expect(await runCommandLine(io, args)).toBe(1);
    expect(io.stderr).toContain('"no-such-branch" is not a commit of this repository');
  });
});
