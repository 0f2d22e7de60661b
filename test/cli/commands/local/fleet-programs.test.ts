import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { requireNoPrograms } from '../../../../src/cli/commands/local/fleet-programs.ts';
import { CliError } from '../../../../src/cli/errors.ts';
import { createLayout } from '../../../../src/local/layout.ts';
import { tempFolder } from '../../../support/temp.ts';

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
    await expect(requireNoPrograms(createLayout(tempFolder('other')))).resolves.toBeUndefined();
  });
});
