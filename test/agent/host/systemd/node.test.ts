import { describe, expect, it } from 'vitest';
import type { CommandAnswer } from '../../../../src/agent/host/systemd/commands.ts';
import { createSystemdNode, osImage } from '../../../../src/agent/host/systemd/node.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

async function refuse(): Promise<CommandAnswer> {
  return { exitCode: 1, stdout: '', stderr: 'Call to Reboot failed: Access denied\n' };
}

describe('reboot', () => {
  it('AGT-22 never looks done before the machine has another boot id', async () => {
    const stop = new AbortController();
    const run = async (): Promise<CommandAnswer> => {
      stop.abort(new Error('systemd ends the agent'));
      return { exitCode: 0, stdout: '', stderr: '' };
    };
    const node = createSystemdNode({ run, clock: virtualClock(), signal: stop.signal });
    await expect(node.reboot()).rejects.toThrow('systemd ends the agent');
  });

  it('names why systemd refused', async () => {
    await expect(createSystemdNode({ run: refuse, clock: virtualClock() }).reboot()).rejects.toMatchObject({
      message: 'the machine did not reboot: Call to Reboot failed: Access denied',
    });
  });
});

describe('forceReboot', () => {
  it('AGT-22 lets the kernel boot from a unit that a shutdown does not stop', async () => {
    const asked: string[] = [];
    const run = async (argv: readonly string[]): Promise<CommandAnswer> => {
      asked.push(argv.join(' '));
      return { exitCode: 0, stdout: '', stderr: '' };
    };
    await createSystemdNode({ run, clock: virtualClock() }).forceReboot?.(1500);
    expect(asked).toEqual([
      'systemd-run --quiet --no-block --collect --unit=kubenode-force-reboot --property=DefaultDependencies=no /bin/sh -c sleep 2; for key in s u b; do echo $key > /proc/sysrq-trigger; sleep 2; done',
    ]);
  });

  it('names why systemd refused', async () => {
    const node = createSystemdNode({ run: refuse, clock: virtualClock() });
    await expect(node.forceReboot?.(0)).rejects.toMatchObject({
      message: 'the machine did not reboot: Call to Reboot failed: Access denied',
    });
  });
});

it.each([
  ['NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n', 'Debian GNU/Linux 12 (bookworm)'],
  ['PRETTY_NAME=Flatcar\n', 'Flatcar'],
  ['', 'Linux'],
])('reads the name of the operating system', (osRelease, expected) => {
  expect(osImage(osRelease)).toBe(expected);
});
