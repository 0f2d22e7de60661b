/** Runs vitest as another process, whose output goes where ours goes, and returns its results. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunResult } from './results.ts';
import { readResults } from './results-file.ts';

const VITEST = join(import.meta.dirname, '../../../node_modules/vitest/vitest.mjs');

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** After so long vitest is killed. What it started is ended by the next run. */
  readonly limitMs?: number | undefined;
}

/** Returns undefined if vitest ended without a result. */
export async function runVitest(
  args: readonly string[],
  { env = {}, limitMs }: RunOptions = {},
): Promise<RunResult | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'kubenode-results-'));
  const file = join(folder, 'results');
  try {
    const child = spawn(process.execPath, [VITEST, 'run', ...args], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...env, KUBENODE_RESULTS: file },
      ...(limitMs === undefined ? {} : { timeout: limitMs, killSignal: 'SIGKILL' }),
    });
    await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    return readResults(file).at(-1);
  } catch {
    return undefined; // the log of vitest tells why
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
