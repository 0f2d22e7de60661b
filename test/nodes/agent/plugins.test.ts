import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readPluginMonitor } from '../../../src/agent/detector/config/plugin-monitor.ts';
import { createPluginMonitor } from '../../../src/agent/detector/monitors/plugin-monitor-run.ts';
import type { RunLimits, RunResult } from '../../../src/agent/host/port.ts';
import { formatAgentUnit } from '../../../src/agent/install/own-unit.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { pluginMonitor } from '../../support/agent/detector-config.ts';
import { AGENT_BINDS, NODE_PROGRAM, SOURCE } from '../../support/agent/remote-host/place.ts';
import { openRemoteHost, type RemoteHost } from '../../support/agent/remote-host/remote-host.ts';
import { useControllers } from '../../support/agent/systemd.ts';
import { eventually } from '../../support/eventually.ts';
import { putFile, putUnit } from '../../support/node-kit/rootfs.ts';
import { type NodeKit, nodeKit, type TestNode, whyNoNodes } from '../../support/node-kit.ts';

const reason = whyNoNodes();
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const SLICE = 'kubenode-plugins.slice';
const RIGHTS = `grep -E '^(CapEff|NoNewPrivs):' /proc/self/status`;
/** What programs such as iptables, mount, nsenter and su need. */
const PRIVILEGED = `${RIGHTS}
unshare --mount sh -c 'mount -t tmpfs none /mnt && echo mounted'
nsenter --target 1 --mount true && echo entered
su daemon -s /bin/sh -c 'id -un'
echo "$(iptables -S | grep -c '^-N KUBE') chains"
echo 64 > /proc/sys/net/ipv4/ip_default_ttl && echo configured
`;
const USUAL: RunLimits = { timeoutMs: 60_000, maxOutputBytes: 4096, onlyStdout: true, rights: {} };

describe.skipIf(reason)(`plug-ins on a real node${reason ? ` (${reason})` : ''}`, () => {
  let kit: NodeKit;
  let node: TestNode;
  let remote: RemoteHost;

  beforeAll(async () => {
    kit = await nodeKit();
    node = await kit.boot({
      name: 'plugins',
      binds: AGENT_BINDS,
      async prepare(root) {
        const unit = formatAgentUnit({
          machine: 'n1',
          node: NODE_PROGRAM,
          program: '/opt/agent.mjs',
          port: 0,
        });
        await putUnit(root, 'kubenode-agent.service', unit);
        const program = `${NODE_PROGRAM} ${SOURCE}/test/support/agent/remote-host/run-once.ts`;
        const override = `[Service]\nType=oneshot\nExecStart=\nExecStart=${program} /root/script /root/results\nRestart=no\n`;
        await putFile(root, 'etc/systemd/system/kubenode-agent.service.d/test.conf', override);
      },
    });
    await useControllers(node);
    remote = await openRemoteHost(node);
  });
  afterAll(async () => {
    await remote?.[Symbol.asyncDispose]();
    await kit?.close();
  });

  async function run(script: string, limits: Partial<RunLimits> = {}): Promise<RunResult> {
    return await remote.host.processes.run(['/bin/sh', '-c', script], { ...USUAL, ...limits });
  }

  async function inNode(script: string): Promise<string> {
    return (await node.run('sh', '-c', script)).stdout;
  }

  const pluginUnits = (): Promise<string> =>
    inNode("systemctl list-units --all --no-legend --plain 'kubenode-plugin-*'");

  it('AGT-71 gives a plug-in the rights of root on the host, which the unit of the agent does not have', async () => {
    await putFile(node.root, 'root/script', PRIVILEGED);
    await inNode('for each in A B C D; do iptables -N KUBE-$each; done');
    await node.run('systemctl', 'start', 'kubenode-agent.service');
    const { agent, plugin } = JSON.parse(await readFile(join(node.root, 'root/results'), 'utf8')) as Record<
      'agent' | 'plugin',
      RunResult
    >;
    expect(agent.output).toBe('CapEff:\t000000040008003f\nNoNewPrivs:\t1\n0 chains\n');
    const full = /CapEff:\t\w+/.exec(await inNode(RIGHTS))?.[0];
    expect(plugin.output).toBe(`${full}\nNoNewPrivs:\t0\nmounted\nentered\ndaemon\n4 chains\nconfigured\n`);
  });

  it.each([
    [{}, 'root CapEff: 0000000000000000 NoNewPrivs: 1'],
    [{ user: 'daemon' }, 'daemon CapEff: 0000000000000000 NoNewPrivs: 1'],
    // The capability with number 12.
    [{ user: 'daemon', capabilities: ['CAP_NET_ADMIN'] }, 'daemon CapEff: 0000000000001000 NoNewPrivs: 1'],
    [{ capabilities: ['CAP_NET_ADMIN'] }, 'root CapEff: 0000000000001000 NoNewPrivs: 1'],
  ])('AGT-71 gives a plug-in no more rights than its file declares: %j', async (rights, expected) => {
    const script = `#!/bin/sh\necho $(id -un) $(${RIGHTS})\nexit 1\n`;
    expect(await conditionOf(script, { rights })).toBe(`True NTPIsDown ${expected}`);
  });

  it('AGT-71 is Unknown, with what to do, where systemd cannot start the plug-in', async () => {
    expect(await conditionOf('#!/bin/sh\nexit 1\n', { rights: { user: 'stranger' } })).toBe(
      'Unknown NTPIsUp /opt/check-ntp could not be started: systemd-run failed: it could not prepare the process (exit code 217).' +
        " Find the cause with: journalctl -u 'kubenode-plugin-*'",
    );
    await inNode('systemctl stop dbus.socket dbus.service');
    onTestFinished(async () => void (await inNode('systemctl start dbus.socket dbus.service')));
    await expect(run('exit 1')).rejects.toThrow(
      /^systemd-run failed: Failed to .+ Check that D-Bus runs \(systemctl status dbus\)/,
    );
  });

  it('AGT-71 limits memory, processes and CPU of all plug-ins together', async () => {
    const { output } = await run('cat /proc/self/cgroup');
    expect(output).toContain(`/${SLICE}/kubenode-plugin-`);
    const properties = ['MemoryMax', 'MemorySwapMax', 'TasksMax', 'CPUQuotaPerSecUSec', 'CPUWeight'];
    // The slice exists while a plug-in runs.
    const held = run('until [ -e /root/shown ]; do sleep 0.1; done');
    const shown = await eventually(async () => {
      if (!(await pluginUnits()).includes('running')) return undefined;
      return await inNode(`systemctl show ${properties.map((each) => `-p ${each}`).join(' ')} ${SLICE}`);
    }, 'no plug-in runs');
    await inNode('touch /root/shown');
    await held;
    expect(shown.trim().split('\n').toSorted()).toEqual([
      'CPUQuotaPerSecUSec=1s',
      'CPUWeight=50',
      'MemoryMax=536870912',
      'MemorySwapMax=0',
      'TasksMax=1024',
    ]);
  });

  it('AGT-71 ends all processes of a plug-in at its time limit, and keeps its output', async () => {
    const script = 'setsid sleep 4711 & trap "" TERM; echo begun; sleep 4711';
    const { timedOut, signal, output } = await run(script, { timeoutMs: 1000 });
    expect({ timedOut, signal, output }).toEqual({ timedOut: true, signal: 'SIGKILL', output: 'begun\n' });
    await untilNoPlugin();
  });

  it('AGT-71 ends what a plug-in leaves behind', async () => {
    expect(await run('setsid sleep 4711 & echo done; exit 1')).toMatchObject({
      exitCode: 1,
      output: 'done\n',
    });
    await untilNoPlugin();
  });

  it.each([
    ['ends its group with a signal that it ignores itself', 'trap "" TERM; kill 0; exit 1', { exitCode: 1 }],
    ['needs too much memory', 'exec tail /dev/zero', { signal: 'SIGKILL' }],
    [
      'ends the shell that watches it, never the exit code 1',
      'kill -9 $PPID; sleep 60',
      { signal: 'unknown' },
    ],
  ])('AGT-71 has the exit code or the signal of a plug-in that %s', async (_, script, expected) => {
    const { exitCode, signal } = await run(script);
    expect({ exitCode, signal }).toMatchObject(expected);
  });

  it('AGT-71 has the last line of each of 300 plug-ins, ten of them at a time', async () => {
    const outputs: string[] = [];
    const runAll = async (): Promise<void> => {
      while (outputs.length < 300) {
        const index = outputs.push('') - 1;
        // oxlint-disable-next-line no-await-in-loop -- one after the other in each of the ten
        outputs[index] = (await run(`echo first; echo last ${index}`)).output;
      }
    };
    await Promise.all(Array.from({ length: 10 }, runAll));
    expect(outputs).toEqual(outputs.map((_, index) => `first\nlast ${index}\n`));
    expect(await pluginUnits()).toBe('');
  });

  it('AGT-71 leaves nothing of a plug-in behind when the agent is killed and starts again', async () => {
    const pending = run('sleep 4711', { timeoutMs: 3_600_000 }).catch(() => 'the agent was killed');
    await eventually(async () => (await pluginUnits()).includes('running') || undefined, 'no plug-in runs');
    await inNode("pkill -9 -f '[r]emote-host/server.ts'");
    expect(await pending).toBe('the agent was killed');
    remote = await openRemoteHost(node);
    await untilNoPlugin();
    expect(await run('echo again')).toMatchObject({ output: 'again\n' });
  });

  it('AGT-71 leaves nothing of a plug-in behind when a stop of the agent ends systemd-run', async () => {
    const pending = run('sleep 4711', { timeoutMs: 3_600_000 });
    await eventually(async () => (await pluginUnits()).includes('running') || undefined, 'no plug-in runs');
    await inNode("pkill -TERM -f '[s]ystemd-run --pipe'");
    expect(await pending).toMatchObject({ signal: 'unknown', timedOut: false });
    await untilNoPlugin();
  });

  async function untilNoPlugin(): Promise<void> {
    await eventually(async () => {
      const left = (await pluginUnits()) + (await inNode("pgrep -a -f '[s]leep 4711' || true"));
      return left === '' || undefined;
    }, 'a plug-in is left');
  }

  /** What the detector reports of a plug-in. */
  async function conditionOf(script: string, fields: object): Promise<string> {
    await putFile(node.root, 'opt/check-ntp', script);
    await node.run('chmod', '0755', '/opt/check-ntp');
    const [rule] = pluginMonitor['rules'] as readonly object[];
    const config = readPluginMonitor({ ...pluginMonitor, ...fields, rules: [rule] }, 'ntp.json');
    const clock = createSystemClock();
    const monitor = createPluginMonitor({ config, host: remote.host, clock, onChange: () => undefined });
    const abort = new AbortController();
    const running = monitor.run(abort.signal);
    const result = await eventually(async () => {
      const [found] = monitor.conditions();
      return found && found.message !== 'ntp service is up' ? found : undefined;
    }, 'the plug-in has no result');
    abort.abort();
    await running;
    return `${result.status} ${result.reason} ${result.message}`;
  }
});
