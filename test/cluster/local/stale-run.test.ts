import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sendProbe } from '../../../src/local/processes/probe.ts';
import { closeRun, openRun, type Run } from '../../support/control-plane-run.ts';

const RUN = new URL('../../support/control-plane-run.ts', import.meta.url).href;

describe('a test run that was killed', () => {
  it('is cleaned up by the next one: its etcd, its folder, its notes', async () => {
    const stale = await killedRun();
    const next = await openRun();
    onTestFinished(() => closeRun(next));
    expect(await isHealthy(stale)).toBe(false);
    expect([stale.folder, stale.notes].filter((path) => existsSync(path))).toEqual([]);
    expect(await isHealthy(next)).toBe(true);
  });
});

async function killedRun(): Promise<Run> {
  const script = `import { openRun } from ${JSON.stringify(RUN)};
    console.log(JSON.stringify(await openRun())); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  child.kill('SIGKILL');
  await once(child, 'exit');
  return JSON.parse(line) as Run;
}

async function isHealthy({ etcd }: Run): Promise<boolean> {
  const { url, caPem, client } = etcd;
  const response = await sendProbe({ url: `${url}/health`, caPem, client }).catch(() => undefined);
  return response?.status === 200;
}
