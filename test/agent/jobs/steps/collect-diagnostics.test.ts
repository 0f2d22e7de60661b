import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SandboxHost } from '../../../../src/agent/host/sandbox/host.ts';
import {
  collectDiagnosticsStep,
  diagnosticsDirectory,
} from '../../../../src/agent/jobs/steps/collect-diagnostics.ts';
import type { StepResult } from '../../../../src/agent/jobs/steps/executor.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { endSandbox, openSandbox } from '../../../support/agent/sandbox.ts';
import { stepContext, stepRun } from '../../../support/agent/step-context.ts';
import { eventually } from '../../../support/eventually.ts';
import { tempFolder } from '../../../support/temp.ts';

const clock = createSystemClock();
let directory: string;
let host: SandboxHost;

beforeEach(async () => {
  directory = tempFolder('sandbox');
  host = await openSandbox(directory);
});
afterEach(async () => {
  await host.close();
  await endSandbox(directory);
});

/** A profile of these programs, as the host would configure it. */
async function collect(
  commands: Readonly<Record<string, readonly string[]>>,
  { maxBytes = '1Mi', seconds = 4, files = [] as readonly string[] } = {},
): Promise<StepResult> {
  const context = await stepContext({ host, clock }, { profiles: { default: { commands, files } } });
  const input = { profile: 'default', maxBytes };
  const result = await collectDiagnosticsStep.execute?.(
    context,
    input,
    stepRun({ timeoutMs: seconds * 1000 }),
  );
  if (!result) throw new Error('the executor carries nothing out');
  return result;
}

function bundle(): string {
  return join(directory, diagnosticsDirectory('job-1-s1-1'));
}

/** Processes with this text among their arguments. */
function processesWith(mark: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

async function noneIsLeft(mark: string): Promise<void> {
  await eventually(
    async () => (processesWith(mark).length === 0 ? true : undefined),
    `${mark} still runs`,
    10_000,
  );
}

describe('collecting diagnostics on a sandbox', () => {
  it('writes the output of each program to a file that only root reads, without secrets', async () => {
    const result = await collect({
      'a.txt': ['echo', 'hello'],
      'b.txt': ['sh', '-c', 'echo "Authorization: Bearer abcdefghijklmnop"; exit 3'],
    });
    expect(result).toMatchObject({ state: 'Succeeded' });
    expect(result.output).toBe('a.txt 6 bytes\nb.txt 26 bytes, exit code 3');
    expect(readFileSync(join(bundle(), 'a.txt'), 'utf8')).toBe('hello\n');
    expect(readFileSync(join(bundle(), 'b.txt'), 'utf8')).not.toContain('abcdefgh');
    expect(statSync(join(bundle(), 'a.txt')).mode & 0o777).toBe(0o600);
  });

  it('AGT-53 ends a program that ignores SIGTERM, and collects what the others print', async () => {
    const mark = `ignores-${process.pid}-${Math.round(performance.now())}`;
    const script = `trap "" TERM INT HUP; while :; do sleep 0.2; done # ${mark}`;
    const result = await collect(
      { 'a.txt': ['sh', '-c', script, mark], 'b.txt': ['echo', 'still here'] },
      { seconds: 2 },
    );
    expect(result.output).toContain('a.txt 0 bytes, timed out');
    expect(result.output).toContain('b.txt 11 bytes');
    await noneIsLeft(mark);
  });

  it('AGT-53 cuts endless output, and keeps the limit of all files', async () => {
    const result = await collect(
      { 'a.txt': ['yes'], 'b.txt': ['echo', 'late'] },
      { maxBytes: '64Ki', seconds: 4 },
    );
    expect(result.output).toContain('a.txt 65536 bytes, timed out, output cut');
    expect(result.output).toContain('b.txt skipped: no space left');
    expect(statSync(join(bundle(), 'a.txt')).size).toBe(65_536);
  });

  it('AGT-53 ends a fork bomb with everything that it started, also after its first process has ended', async () => {
    const mark = `bomb-${process.pid}-${Math.round(performance.now())}`;
    // Bounded, so that a failure of this test does not take the machine down: three generations of four.
    const bomb = `generation() { [ "$1" -eq 0 ] && exec sh -c 'while :; do sleep 1; done' "$0"; for i in 1 2 3 4; do generation $(($1 - 1)) & done; wait; }; `;
    const waiting = await collect({ 'a.txt': ['sh', '-c', `${bomb} generation 3`, mark] }, { seconds: 2 });
    expect(waiting.output).toContain('timed out');
    await noneIsLeft(mark);
    await host.files.remove(diagnosticsDirectory('job-1-s1-1'));
    const leaving = await collect(
      { 'a.txt': ['sh', '-c', `${bomb} generation 2 & exit 0`, mark] },
      { seconds: 2 },
    );
    expect(leaving.output).toBe('a.txt 0 bytes');
    await noneIsLeft(mark);
  });

  it('copies configured files, and no link, large file or folder', async () => {
    const attributes = { mode: '0644', owner: 'root:root' };
    await host.files.write('/var/log/app.log', new TextEncoder().encode('token: abcdefghijkl\n'), attributes);
    await host.files.link('/var/log/link', '/var/log/app.log');
    const files = ['/var/log/app.log', '/var/log/link', '/var/log', '/var/log/none'];
    const result = await collect({}, { files });
    expect(result.output?.split('\n').slice(1)).toEqual([
      '/var/log/link skipped: not a file',
      '/var/log skipped: not a file',
      '/var/log/none skipped: not found',
    ]);
    expect(readFileSync(join(bundle(), 'var_log_app.log'), 'utf8')).not.toContain('abcdefghijkl');
  });

  it('AGT-51 keeps a complete bundle when it is asked again, and begins again after an incomplete one', async () => {
    await collect({ 'a.txt': ['echo', 'first'] });
    await collect({ 'a.txt': ['echo', 'second'] });
    expect(readFileSync(join(bundle(), 'a.txt'), 'utf8')).toBe('first\n');
    await host.files.rename(diagnosticsDirectory('job-1-s1-1'), `${diagnosticsDirectory('job-1-s1-1')}.part`);
    await collect({ 'a.txt': ['echo', 'second'] });
    expect(readFileSync(join(bundle(), 'a.txt'), 'utf8')).toBe('second\n');
  });

  it('refuses a profile that the host does not have', async () => {
    const context = await stepContext({ host, clock });
    const problem = await collectDiagnosticsStep.problem(context, { profile: 'gpu', maxBytes: '1Mi' });
    expect(problem).toEqual({
      code: 'NotAllowed',
      message: 'the configuration of this agent has no profile gpu: it has default',
    });
  });
});
