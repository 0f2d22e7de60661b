import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CliError } from '../../../src/cli/errors.ts';
import { requireNoPrograms } from '../../../src/cli/local/fleet-programs.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { claimFleet } from '../../../src/local/claim.ts';
import { createLayout } from '../../../src/local/layout.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';

/** As `kubenode start` runs it: a program with this name and these arguments. */
function startControllers(folder: string, kubeconfig: string): number {
  const main = join(folder, 'cli/main.ts');
  mkdirSync(join(folder, 'cli'), { recursive: true });
  writeFileSync(main, 'setTimeout(() => undefined, 100_000);\n');
  const args = [main, 'controllers', '--kubeconfig', kubeconfig, '--context', 'test'];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child.pid ?? 0;
}

describe('a fleet that is stopped', () => {
  it('must not have programs of kubenode start, which would start its machines again', async () => {
    const folder = tempFolder('programs');
    const layout = createLayout(folder);
    const pid = startControllers(folder, layout.kubeconfig);
    await expect
      .poll(() => requireNoPrograms(layout).catch((error: unknown) => error))
      .toBeInstanceOf(CliError);
    await expect(requireNoPrograms(layout)).rejects.toMatchObject({
      message: 'kubenode start still runs this fleet',
      where: `${folder}: controllers test (pid ${pid})`,
      hint: expect.stringContaining('Ctrl-C') as string,
    });
    // It may have no terminal: only npm was killed.
    await claimFleet(layout, false);
    await expect(requireNoPrograms(layout)).rejects.toMatchObject({
      hint: expect.stringMatching(`Ctrl-C in its terminal, or with: kill ${process.pid}, which`) as string,
    });
    await expect(requireNoPrograms(createLayout(tempFolder('other')))).resolves.toBeUndefined();
  });
});

describe('kubenode start --demo', () => {
  it('refuses a fleet that another one runs already, and changes nothing', async () => {
    const dir = realpathSync(tempFolder('started'));
    const repository = join(tempFolder('repositories'), 'demo');
    const pid = startControllers(tempFolder('programs'), createLayout(dir).kubeconfig);
    await expect
      .poll(() => requireNoPrograms(createLayout(dir)).catch((error: unknown) => error))
      .toBeInstanceOf(CliError);
    const io = testIo();
    expect(await runCommandLine(io, ['start', '--demo', repository, '--dir', dir])).toBe(1);
    expect(io.stderr).toBe(
      `error: kubenode start runs this fleet already\n  where: ${dir}: controllers test (pid ${pid})\n` +
        '  hint: use it, or end it with Ctrl-C in its terminal; another fleet needs another folder: --dir\n',
    );
    expect(existsSync(repository)).toBe(false);
    expect(readdirSync(dir)).toEqual([]);
  });
});

describe('kubenode local down', () => {
  it('refuses while controllers that a person started use the fleet, and names pid and command', async () => {
    const dir = realpathSync(tempFolder('used'));
    const pid = await startProgram('controllers', { KUBECONFIG: join(dir, 'kubeconfig') });
    const io = testIo();
    expect(await runCommandLine(io, ['local', 'down', '--dir', dir])).toBe(1);
    expect(io.stderr).toContain('error: a controller still uses this fleet');
    expect(io.stderr).toContain(`where: ${dir}: kubenode controllers (pid ${pid})`);
    expect(io.stderr).toContain(`kill ${pid}`);
    expect(existsSync(dir)).toBe(true);
  });

  it('stops the fleet of other programs, and names those that still run', async () => {
    const dir = realpathSync(tempFolder('used'));
    writeFileSync(join(dir, 'kubeconfig'), '');
    const pid = await startProgram('console', { KUBECONFIG: join(dir, 'kubeconfig') });
    const io = testIo();
    expect(await runCommandLine(io, ['local', 'down', '--wipe', '--dir', dir])).toBe(0);
    expect(io.stderr).toContain(
      `warning: still running without a cluster: kubenode console (pid ${pid}). To end them: kill ${pid}`,
    );
    expect(existsSync(dir)).toBe(false);
  });
});

/** As from a shell: the fleet is in its environment only. */
async function startProgram(name: string, env: Readonly<Record<string, string>>): Promise<number> {
  const main = join(tempFolder('program'), 'kubenode.js');
  writeFileSync(main, 'process.stdout.write("started"); setTimeout(() => undefined, 100_000);\n');
  const child = spawn(process.execPath, [main, name], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child.pid ?? 0;
}
