import { describe, expect, it } from 'vitest';
import { runAgentProgram } from '../../../src/cli/programs/agent-commands.ts';
import { testIo } from '../../support/test-io.ts';

async function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = testIo();
  const code = await runAgentProgram(io, args);
  return { code, stdout: io.stdout, stderr: io.stderr };
}

describe('the program of the agent', () => {
  it('exits with 64 for an unknown command, and names the known ones', async () => {
    const { code, stderr } = await run('repair');
    expect(code).toBe(64);
    expect(stderr).toContain(
      'error: unknown command "repair"\n  hint: use one of: run, status, components, why, unit, watchdog, install, request, accept, release, uninstall\n',
    );
  });

  it('exits with 64 for wrong options', async () => {
    const { code, stderr } = await run('unit');
    expect({ code, stderr }).toEqual({ code: 64, stderr: 'error: --machine <name> is required\n' });
  });

  it.each([[[]], [['--help']], [['help']]])('prints its commands for %j', async (args) => {
    const { code, stdout } = await run(...args);
    expect(code).toBe(0);
    expect(stdout.match(/^ {2}\w+/gm)).toEqual([
      '  run',
      '  status',
      '  components',
      '  why',
      '  unit',
      '  watchdog',
      '  install',
      '  request',
      '  accept',
      '  release',
      '  uninstall',
      '  version',
    ]);
  });

  it('names the choices, defaults and required options of a command', async () => {
    const { stdout } = await run('unit', '--help');
    expect(stdout).toContain('--machine <name>     name of the Machine (required)');
    expect(stdout).toContain('(default: 0)');
  });

  it('prints the unit of a program that has Node.js inside', async () => {
    const { stdout } = await run('unit', '--machine', 'n1', '--node', 'none');
    expect(stdout).toContain('\nExecStart=/var/lib/kubenode/agent/program run --machine n1 ');
  });

  it('takes short options and flags', async () => {
    const { stdout } = await run('install', '--help');
    expect(stdout).toContain('  -o, --output <format> ');
    expect((await run('request', '--help')).stdout).toContain('  --renew  ');
  });

  it('prints the unit of a machine', async () => {
    const { code, stdout } = await run('unit', '--machine', 'n1', '--bootstrap', '/etc/kubenode/b.json');
    expect(code).toBe(0);
    expect(stdout).toContain(' run --machine n1 --host systemd --port 0 --bootstrap /etc/kubenode/b.json\n');
  });
});
