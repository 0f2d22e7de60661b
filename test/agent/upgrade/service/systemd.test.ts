import { describe, expect, it } from 'vitest';
import type { RunCommand } from '../../../../src/agent/host/systemd/commands.ts';
import { createSystemdService } from '../../../../src/agent/upgrade/service/systemd.ts';

interface FakeSystemd {
  readonly service: ReturnType<typeof createSystemdService>;
  /** What was done, in order. */
  readonly calls: readonly string[];
}

function fakeSystemd(mainPid: number, failing = ''): FakeSystemd {
  const calls: string[] = [];
  const run: RunCommand = async (argv) => {
    const line = argv.join(' ');
    calls.push(line);
    const fails = failing !== '' && line.includes(failing);
    if (fails) return { exitCode: 1, stdout: '', stderr: 'no such unit\n' };
    return { exitCode: 0, stdout: line.includes('MainPID') ? `${mainPid}\n` : 'a line\n', stderr: '' };
  };
  const link = async (path: string, target: string): Promise<void> =>
    void calls.push(`link ${path} ${target}`);
  return { service: createSystemdService({ link }, run), calls };
}

describe('the agent as a unit of systemd', () => {
  it('AGT-43 starts the program behind the link of the unit, and touches no other unit', async () => {
    const { service, calls } = fakeSystemd(0);
    await service.stop();
    await service.start('/opt/kubenode/kubenode-agent/1.1-0a1b2c3d/kubenode-agent');
    expect(calls).toEqual([
      'systemctl stop kubenode-agent.service',
      'link /var/lib/kubenode/agent/program /opt/kubenode/kubenode-agent/1.1-0a1b2c3d/kubenode-agent',
      'systemctl start kubenode-agent.service',
    ]);
  });

  it('is the main process of the unit', async () => {
    const found = await fakeSystemd(process.pid).service.running();
    expect(found?.pid).toBe(process.pid);
    expect(found?.startId).toMatch(/^\d+$/);
    expect(found?.residentBytes).toBeGreaterThan(1024 ** 2);
  });

  it('does not run without a main process', async () => {
    expect(await fakeSystemd(0).service.running()).toBeUndefined();
  });

  it('tells what systemd answered', async () => {
    await expect(fakeSystemd(0, 'systemctl start').service.start('/x')).rejects.toThrow(
      'systemctl start kubenode-agent.service failed: no such unit',
    );
  });
});
